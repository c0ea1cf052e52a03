-- Pauses of single providers, by the operator: `pauses` of rag.worker_config, by lane.

-- name: pause
-- A pause that exists keeps its time and note: two operators may pause the same provider.
insert into rag.worker_config as config (key, value)
values ('pauses', jsonb_build_object(
           %(lane)s::text, jsonb_build_object('at', now(), 'note', %(note)s::text)))
on conflict (key) do update
   set updated_at = now(),
       value = excluded.value || case when jsonb_typeof(config.value) = 'object' then config.value
                                      else '{}' end;

-- name: resume
update rag.worker_config set value = value - %(lane)s::text, updated_at = now()
 where key = 'pauses' and value ? %(lane)s::text;

-- name: all
select value from rag.worker_config where key = 'pauses';

-- name: is_paused
-- By the full lane name, without the endpoint, or without endpoint and key.
select exists (
    select from rag.worker_config
     where key = 'pauses'
       and value ?| array[%(lane)s::text, split_part(%(lane)s, '@', 1), split_part(%(lane)s, '#', 1)]);
