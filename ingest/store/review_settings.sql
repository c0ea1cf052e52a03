-- name: settings
select array(select jsonb_array_elements_text(
           coalesce(settings -> 'reviews', '["mass_deletion"]'::jsonb))) as reviews
  from app.applications where id = %(id)s;
