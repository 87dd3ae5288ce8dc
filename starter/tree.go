package main

import (
	"cmp"
	"slices"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

// pageTree is pages by the page they hang below; roots hang below none that is shown.
type pageTree struct {
	children map[string][]knowledge.Page
	roots    []knowledge.Page
}

// plant builds the tree. A page whose parent isn't among the pages is a root, and so is the first page of a circle, which a
// source mid-move can show: every page is drawn exactly once.
func plant(pages []knowledge.Page) pageTree {
	known := make(map[string]bool, len(pages))
	for _, page := range pages {
		known[page.PageID] = true
	}
	tree := pageTree{children: map[string][]knowledge.Page{}}
	for _, page := range pages {
		if page.ParentPageID != nil && known[*page.ParentPageID] {
			tree.children[*page.ParentPageID] = append(tree.children[*page.ParentPageID], page)
		} else {
			tree.roots = append(tree.roots, page)
		}
	}
	byTitle := func(x, y knowledge.Page) int {
		return cmp.Or(cmp.Compare(label(x), label(y)), cmp.Compare(x.PageID, y.PageID))
	}
	slices.SortFunc(tree.roots, byTitle)
	for _, children := range tree.children {
		slices.SortFunc(children, byTitle)
	}
	return tree
}

func label(page knowledge.Page) string {
	return out.Title(page.Title)
}

// tree draws all pages below each other.
func (a *app) tree(pages []knowledge.Page) {
	planted := plant(pages)
	drawn := make(map[string]bool, len(pages))
	for _, root := range planted.roots {
		a.branch(planted, root, "", "", drawn)
	}
	for _, page := range pages {
		if !drawn[page.PageID] {
			a.branch(planted, page, "", "", drawn)
		}
	}
}

func (a *app) branch(tree pageTree, page knowledge.Page, first, rest string, drawn map[string]bool) {
	drawn[page.PageID] = true
	a.Line("%s%s", a.Faint(first), a.leaf(page))
	var children []knowledge.Page
	for _, child := range tree.children[page.PageID] {
		if !drawn[child.PageID] {
			children = append(children, child)
		}
	}
	for i, child := range children {
		if i == len(children)-1 {
			a.branch(tree, child, rest+"└─ ", rest+"   ", drawn)
		} else {
			a.branch(tree, child, rest+"├─ ", rest+"│  ", drawn)
		}
	}
}

func (a *app) leaf(page knowledge.Page) string {
	if page.Kind == "container" {
		return a.Strong(label(page) + "/")
	}
	state := shownState(page)
	if state.Text == string(knowledge.StateLive) {
		return label(page)
	}
	return label(page) + "  " + a.Paint(state.Text, state.Colors...)
}
