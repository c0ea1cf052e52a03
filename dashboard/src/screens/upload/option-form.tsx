import { api } from "../../app/session.ts";
import { SelectField, TextArea, TextField } from "../../components/fields.tsx";
import { useResource } from "../../live/resource.ts";
import { upload } from "./messages.ts";
import type { FieldProblem, OptionFields } from "./options.ts";

interface OptionFormProps {
  fields: OptionFields;
  problems: Partial<Record<keyof OptionFields, FieldProblem>>;
  onChange: (fields: OptionFields) => void;
}

export function OptionForm({ fields, problems, onChange }: OptionFormProps) {
  const collections = useResource((signal) => api.get("/api/collections", { query: { limit: 200 }, signal }), []);
  const field = <K extends keyof OptionFields>(name: K) => ({
    value: fields[name],
    error: problems[name] && upload().problems[problems[name]],
    onValue: (value: OptionFields[K]) => onChange({ ...fields, [name]: value }),
  });
  const options = <T extends string>(names: Record<T, string>) =>
    Object.entries<string>(names).map(([value, label]) => ({ value: value as T, label }));
  return (
    <details>
      <summary>{upload().options}</summary>
      <div class="form-grid">
        <TextArea label={upload().metadata} hint={upload().metadataHint} isCode {...field("metadata")} />
        <div class="stack">
          <SelectField label={upload().collection} {...field("collectionId")}
            options={[{ value: "", label: upload().noCollection }, ...(collections.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))]} />
          <SelectField label={upload().onConflict} {...field("onConflict")} options={options({ update: upload().update, skip: upload().skip })} />
        </div>
        <TextField label={upload().priority} hint={upload().priorityHint} type="number" {...field("priority")} />
        <TextField label={upload().size} hint={upload().sizeHint} type="number" {...field("size")} />
        <TextField label={upload().overlap} type="number" {...field("overlap")} />
        <SelectField label={upload().by} {...field("by")} options={options(upload().bys as Record<OptionFields["by"], string>)} />
      </div>
    </details>
  );
}
