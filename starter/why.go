package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "why REF", Short: "Why a page is, or isn't, in the knowledge base",
		Long: `Explain a page's state, with the facts behind it and what to do next. REF is a page id, a source id, a path, a URL or a whole
title, in any folder; a page below two folders is explained for both, and deleted folders come last.

The answer is an array of explanations: folder_id, page_id, source_id, title, state, sentence, facts, next_step.`,
		Example: `  starter why drafts/old.md
  starter why https://www.notion.so/acme/Onboarding-0123456789abcdef0123456789abcdef`,
		Args: exactly(textArgument("REF")),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			explanations, err := s.door.Why(ctx, args[0])
			if err != nil {
				return err
			}
			if err := a.show(list(explanations), func() { a.explain(explanations) }); err != nil {
				return err
			}
			if len(explanations) == 0 {
				return &endedError{code: exitNotFound, sentence: fmt.Sprintf("nothing is known of %q", args[0])}
			}
			return nil
		}),
	}
}

// about names what advice is about, since stderr may be read without the answer.
func about(e control.Explanation) string {
	return out.Truncate(strings.TrimSpace(e.FolderID+" "+out.Clean(out.Or(e.SourceID, e.PageID))), longestName)
}

// longestName keeps a path of many directories from hiding the advice.
const longestName = 80

func (a *app) explain(explanations []control.Explanation) {
	for i, e := range explanations {
		if i > 0 {
			a.Line("")
		}
		title := out.Title(e.Title)
		if e.FolderID != "" {
			title += " in " + out.Clean(e.FolderID)
		}
		a.Line("%s  %s", a.Strong(title), a.painted(e.State))
		a.Line("%s", out.Clean(e.Sentence))
		for _, fact := range e.Facts {
			a.Line("  - %s", out.Clean(fact))
		}
		if e.NextStep != "" {
			a.Hint("%s: %s", about(e), e.NextStep)
		}
	}
}
