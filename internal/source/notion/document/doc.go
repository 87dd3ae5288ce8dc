// Package document turns what Notion's API answers into Markdown that people and search can read: pages, databases and data
// sources with their properties, blocks of every type, comments and the text of attachments.
//
// It is pure: no network, no clock, no database. JSON is decoded here and not by a client library, because one unknown type
// must never cost more than itself. Nothing is lost silently: what can't be shown becomes a placeholder and is counted in
// the Report. Nothing that differs between two reads of an unchanged page (signed links, expiry times, request ids) reaches
// the Markdown, so that its hash tells whether the page changed.
package document
