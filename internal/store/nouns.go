package store

import "github.com/loresync/loresync/internal/knowledge"

// What the methods take and give. The nouns are knowledge's, so that the activities can speak of them without the store.
type (
	// Begun is knowledge's.
	Begun = knowledge.Begun
	// Holder is knowledge's.
	Holder = knowledge.Holder
	// StagedRevision is knowledge's.
	StagedRevision = knowledge.StagedRevision
	// StagedChunk is knowledge's.
	StagedChunk = knowledge.StagedChunk
	// Place is knowledge's.
	Place = knowledge.Place
	// Staged is knowledge's.
	Staged = knowledge.Staged
	// Enrichment is knowledge's.
	Enrichment = knowledge.Enrichment
	// PublishedTexts is knowledge's.
	PublishedTexts = knowledge.PublishedTexts
	// Published is knowledge's.
	Published = knowledge.Published
	// Reading is knowledge's.
	Reading = knowledge.Reading
	// Listing is knowledge's.
	Listing = knowledge.Listing
	// Window is knowledge's.
	Window = knowledge.Window
	// Ask is knowledge's.
	Ask = knowledge.Ask
	// Vanished is knowledge's.
	Vanished = knowledge.Vanished
	// Absence is knowledge's.
	Absence = knowledge.Absence
	// Lost is knowledge's.
	Lost = knowledge.Lost
	// FolderRoot is knowledge's.
	FolderRoot = knowledge.FolderRoot
	// Counted is knowledge's.
	Counted = knowledge.Counted
	// FinishedRun is knowledge's.
	FinishedRun = knowledge.FinishedRun
	// OpenDelete is knowledge's.
	OpenDelete = knowledge.OpenDelete
	// Flight is knowledge's.
	Flight = knowledge.Flight
	// DueRead is knowledge's.
	DueRead = knowledge.DueRead
)
