package store

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

type begunRow struct {
	Outcome       string
	Token         *string
	ReadSeq       *int64
	PageNo        *int64
	SourceID      *string
	Source        *string
	Connection    *string
	Root          *string
	Limits        json.RawMessage
	ContentHash   []byte
	Title         *string
	SourceVersion *string
	Parent        *string
	Lost          bool
	ModelsPending *bool
	At            time.Time
}

// The time is taken once the row lock is there, which may have been waited for.
const beginPageSync = `SELECT *, clock_timestamp() AS at FROM begin_page_sync($1, $2, $3, $4, $5, $6)`

// BeginPageSync takes the page's in-flight row for a workflow run, or says why not. A second Begin of the same run fences
// the first.
func (s *Store) BeginPageSync(ctx context.Context, folder, page, workflowID, firstRunID, runID string, lane knowledge.Lane) (knowledge.Begun, error) {
	row, err := one[begunRow](ctx, s, "begin a page sync", beginPageSync, folder, page, workflowID, firstRunID, runID, int16(lane))
	if err != nil || row.Outcome != "begun" {
		return knowledge.Begun{Outcome: row.Outcome}, err
	}
	return row.begun(), nil
}

func (row begunRow) begun() knowledge.Begun {
	return knowledge.Begun{
		Outcome: row.Outcome, Token: *row.Token, ReadSeq: *row.ReadSeq, PageNo: *row.PageNo, SourceID: *row.SourceID, Source: *row.Source,
		Connection: *row.Connection, Root: *row.Root, Limits: row.Limits, ContentHash: row.ContentHash, Title: *row.Title,
		SourceVersion: *row.SourceVersion, Parent: deref(row.Parent), Lost: row.Lost, ModelsPending: *row.ModelsPending,
		At: row.At,
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

const stageRevision = `SELECT * FROM stage_revision($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`

// StageRevision writes a revision and its chunks for the holder, in place of what it staged before.
func (s *Store) StageRevision(ctx context.Context, h knowledge.Holder, r knowledge.StagedRevision) (knowledge.Staged, error) {
	headings := make([][]string, len(r.Chunks))
	bodies, hashes, terms := make([]string, len(r.Chunks)), make([][]byte, len(r.Chunks)), make([]string, len(r.Chunks))
	for i, c := range r.Chunks {
		headings[i], bodies[i], hashes[i], terms[i] = nonNil(c.HeadingPath), c.Body, c.TextHash, tsvector(c.Terms)
	}
	meta := r.Meta
	if meta == nil {
		meta = json.RawMessage(`{}`)
	}
	fidelity := r.Fidelity
	if fidelity == nil {
		fidelity = json.RawMessage(`{}`)
	}
	r.Place.ListedTitle = knowledge.Title(r.Place.ListedTitle)
	return one[knowledge.Staged](ctx, s, "stage a revision", stageRevision, h.Folder, h.Page, h.Token, nonNilBytes(r.Raw), r.Format, r.ContentHash, r.Markdown,
		knowledge.Title(r.Title), meta, r.Summary, r.SummaryModel, r.Version, r.EditedAt, headings, bodies, hashes, terms, r.EmbeddingModel, r.EmbeddingDimensions,
		r.Place, r.Fingerprint, r.RecheckAfter, fidelity)
}

const enrichRevision = `SELECT enrich_revision($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

// EnrichRevision adds embeddings and a summary to a revision of the page that the holder holds. The answer is enriched,
// fenced or cancel_requested.
func (s *Store) EnrichRevision(ctx context.Context, h knowledge.Holder, e knowledge.Enrichment) (string, error) {
	flat := make([]float32, 0, len(e.Vectors)*e.Dimensions)
	for _, v := range e.Vectors {
		flat = append(flat, v...)
	}
	hashes := e.Hashes
	if hashes == nil {
		hashes = [][]byte{}
	}
	return scalar[string](ctx, s, "add embeddings", enrichRevision, h.Folder, h.Page, h.Token, e.RevisionID, e.Model, e.Dimensions, hashes, flat,
		e.Summary, e.SummaryModel)
}

const publishStaged = `SELECT * FROM publish_staged($1, $2, $3, $4, $5)`

// PublishStaged moves the page's pointer to the revision that the holder staged, if it still may. With modelsAfter, for models
// that failed, it makes the page due for another read after that while, in the same transaction.
func (s *Store) PublishStaged(ctx context.Context, h knowledge.Holder, revisionID int64, modelsAfter *time.Duration) (knowledge.Published, error) {
	return one[knowledge.Published](ctx, s, "publish a page", publishStaged, h.Folder, h.Page, h.Token, revisionID, modelsAfter)
}

const publishUnchanged = `SELECT * FROM publish_page($1, $2, $3, NULL, $4, $5, $6, $7, $8, $9, $10, $11, $12, NULL)`

// PublishUnchanged records that the holder read what is published already.
func (s *Store) PublishUnchanged(ctx context.Context, h knowledge.Holder, r knowledge.Reading) (knowledge.Published, error) {
	return one[knowledge.Published](ctx, s, "record an unchanged page", publishUnchanged, h.Folder, h.Page, h.Token, knowledge.Title(r.Title), r.Place.URL,
		r.Place.Path, r.Place.Parent, knowledge.Title(r.Place.ListedTitle), r.Version, r.EditedAt, r.Fingerprint, r.RecheckAfter)
}

const noteSourceFacts = `SELECT note_source_facts($1, $2, $3, $4, $5)`

// NoteSourceFacts keeps what the holder's read told of the page besides its content; false when it was overtaken.
func (s *Store) NoteSourceFacts(ctx context.Context, h knowledge.Holder, facts knowledge.Facts) (bool, error) {
	if facts.Access == nil {
		facts.Access = json.RawMessage(`[]`)
	}
	if facts.Meta == nil {
		facts.Meta = json.RawMessage(`{}`)
	}
	return scalar[bool](ctx, s, "note what the source said of a page", noteSourceFacts, h.Folder, h.Page, h.Token, facts.Access, facts.Meta)
}

const finishPageSync = `SELECT finish_page_sync($1, $2, $3, $4, $5, $6, $7)`

// FinishPageSync ends an attempt without publishing: outcome is failed, skipped, not_found or cancelled. What it staged goes,
// what is published stays. The answer is the outcome, or fenced or cancel_requested when the holder was overtaken.
func (s *Store) FinishPageSync(ctx context.Context, h knowledge.Holder, outcome knowledge.Outcome, class, sentence, version string) (string, error) {
	return scalar[string](ctx, s, "finish a page sync", finishPageSync, h.Folder, h.Page, h.Token, string(outcome), class, sentence, version)
}

const heldPage = `
SELECT 'begun' AS outcome, i.token, i.read_seq, p.page_no, p.source_id, f.source, f.connection, f.root, f.limits, r.content_hash, p.title,
       p.source_version, p.parent_source_id AS parent, coalesce(p.tombstone_reason = 'source', false) AS lost, false AS models_pending,
       now() AS at
FROM in_flight i JOIN pages p ON p.folder_id = i.folder_id AND p.page_id = i.page_id JOIN folders f ON f.folder_id = i.folder_id
LEFT JOIN revisions r ON r.revision_id = p.published_revision_id
WHERE i.folder_id = $1 AND i.page_id = $2 AND i.token = $3 AND NOT i.cancel_requested`

// HeldPage reads what a holder has to know about its page again; false when it no longer holds it.
func (s *Store) HeldPage(ctx context.Context, h knowledge.Holder) (knowledge.Begun, bool, error) {
	rows, err := list[begunRow](ctx, s, "read a held page", heldPage, h.Folder, h.Page, h.Token)
	if err != nil || len(rows) == 0 {
		return knowledge.Begun{}, false, err
	}
	return rows[0].begun(), true, nil
}

const holderState = `SELECT cancel_requested FROM in_flight WHERE folder_id = $1 AND page_id = $2 AND token = $3`

// MayGoOn tells whether the holder still holds its page and no delete has asked it to stop.
func (s *Store) MayGoOn(ctx context.Context, h knowledge.Holder) (bool, error) {
	found, err := list[struct{ CancelRequested bool }](ctx, s, "look at the in-flight row", holderState, h.Folder, h.Page, h.Token)
	return len(found) == 1 && !found[0].CancelRequested, err
}

const revisionText = `
SELECT r.revision_id, r.title, r.markdown, r.summary IS NULL AS needs_words
FROM revisions r WHERE r.revision_id = $1`

const chunksWithoutEmbedding = `
SELECT heading_path, body, text_hash FROM chunks WHERE revision_id = $1 AND model IS NULL ORDER BY chunk_no`

// TextsToEnrich reads what a revision still wants from models.
func (s *Store) TextsToEnrich(ctx context.Context, revisionID int64) (knowledge.PublishedTexts, error) {
	texts, err := one[knowledge.PublishedTexts](ctx, s, "read a revision", revisionText, revisionID)
	if err != nil {
		return texts, err
	}
	texts.Chunks, err = list[knowledge.StagedChunk](ctx, s, "read chunks without embeddings", chunksWithoutEmbedding, revisionID)
	return texts, err
}

const publishedRevision = `SELECT coalesce(published_revision_id, 0) FROM pages WHERE folder_id = $1 AND page_id = $2`

// PublishedRevision gives the id of a page's published revision, 0 without one.
func (s *Store) PublishedRevision(ctx context.Context, folder, page string) (int64, error) {
	return scalar[int64](ctx, s, "read the published revision", publishedRevision, folder, page)
}

const addDueRead = `
INSERT INTO due_reads AS d (folder_id, page_id, due_at, reason, attempts) VALUES ($1, $2, now() + $3::interval, $4, 1)
ON CONFLICT (folder_id, page_id) DO UPDATE SET due_at = least(d.due_at, excluded.due_at), attempts = d.attempts + 1`

// AddDueRead makes a page due for a read after a delay; an earlier one stays.
func (s *Store) AddDueRead(ctx context.Context, folder, page string, after time.Duration, reason string) error {
	_, err := exec(ctx, s, "note a due read", addDueRead, folder, page, after, reason)
	return err
}

// quoting doubles what Postgres would read as syntax inside a quoted lexeme.
var quoting = strings.NewReplacer(`'`, `''`, `\`, `\\`)

// tsvector writes lexemes with their positions as Postgres reads them. Lexemes are letters and digits only, but nothing
// here relies on it.
func tsvector(terms []string) string {
	const lastPosition = 16383
	b := make([]byte, 0, 16*len(terms))
	for i, term := range terms {
		if strings.ContainsAny(term, `'\`) {
			term = quoting.Replace(term)
		}
		b = append(b, '\'')
		b = append(b, term...)
		b = append(b, '\'', ':')
		b = strconv.AppendInt(b, int64(min(i+1, lastPosition)), 10)
		b = append(b, ' ')
	}
	return string(b)
}

func nonNil(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}

func nonNilBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
