-- Documents that the next run reads although they have not changed: an operator has asked for it,
-- because the readers have improved or text recognition was switched on.

alter table rag.documents add column if not exists read_again boolean not null default false;

-- Open sources are being read, and failed files are retried: their stored bytes may be of an earlier
-- version. All else that was read once can be read again.
create or replace function rag.can_be_read_again(
    type text, status text, blob_key text, content_hash bytea) returns boolean
language sql immutable parallel safe as $$
    select status in ('completed', 'partial')
           and (type <> 'file' or (blob_key is not null and content_hash is not null))
        or type <> 'file' and status in ('failed', 'cancelled')
$$;
