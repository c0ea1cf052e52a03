-- Filters of searches (ingest/store/search/filters.sql).

-- The moment that a text in ISO 8601 names; null: it is no date. Without a zone it is UTC, without a
-- time the first moment of the day. Only dates that exist match, because a cast fails at others. As in
-- ingest/filters/dates.py.
create function rag.instant(value text) returns timestamptz
language sql stable parallel safe
as $$
select case
         when value !~ ('^([1-9]\d{3}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])'
                        '|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))'
                        '|([1-9]\d(0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)-02-29)'
                        '([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?'
                        '(Z|[+-](0\d|1[0-4]):[0-5]\d)?)?$') then null
         when length(value) = 10 then (value || 'T00:00Z')::timestamptz
         when value ~ '(Z|[+-]\d\d:\d\d)$' then value::timestamptz
         else (value || 'Z')::timestamptz
       end
$$;
