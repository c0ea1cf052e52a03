-- Why a provider fails, as it said itself: shown to people until a request succeeds again.
alter table rag.lanes
    -- When the lane began to fail for this reason.
    add column if not exists failing_since  timestamptz,
    add column if not exists error_code     text,
    -- Null: there was no HTTP answer.
    add column if not exists error_status   integer,
    add column if not exists error_message  text;
