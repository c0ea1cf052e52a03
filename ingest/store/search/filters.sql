-- Parts of the condition that a filter becomes (filter_condition.py). They name the source `source`
-- and the document `document`. A part is null, not false, where a column is null: `none` makes that
-- false before it is negated.

-- name: all
({parts})

-- name: none
(({part}) is not true)

-- name: sources
(source.id = any({value}::uuid[]))

-- name: documents
(chunk.document_id = any({value}::uuid[]))

-- name: in_collections
exists (select from rag.collection_sources as member
         where member.source_id = source.id and member.collection_id = any({value}::uuid[]))

-- name: contains
(source.metadata @> {value})

-- name: json_matches
-- Lax mode looks into lists: a list matches if one of its members does.
({field} @? {path}::jsonpath)

-- name: json_compares_time
exists (select from jsonb_path_query({field}, {path}::jsonpath, '{{}}', true) as item(value)
         where rag.instant(item.value #>> '{{}}') {operator} {value})

-- name: is_in
({field} = any({value}))

-- name: compares
({field} {operator} {value})

-- name: compares_text
({field} collate "C" {operator} {value})

-- name: starts_with
starts_with({field}, {value})

-- name: starts_like_uri
-- As in the index documents_folder, whose entries end after 100 characters.
(left(document.uri, 100) collate "C" >= {first} and left(document.uri, 100) collate "C" < {last})

-- name: matches_regex
({field} ~ {value})

-- name: exists
({field} is not null)

-- name: field_metadata
source.metadata

-- name: field_document
document.metadata

-- name: field_uri
document.uri

-- name: field_title
document.title

-- name: field_mediaType
document.media_type

-- name: field_language
document.language

-- name: field_type
source.type

-- name: field_name
source.name

-- name: field_knowledgeSourceId
source.id

-- name: field_documentId
document.id

-- name: field_createdAt
source.created_at

-- name: field_updatedAt
document.updated_at

-- name: field_publishedAt
rag.published_at(document.metadata)
