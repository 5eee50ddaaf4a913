/** The models that a key may call. */
import { Stack } from "@mantine/core";
import type { FormEvent } from "react";
import { useDraft } from "../../ui/draft.ts";
import { ModelPicker } from "../../ui/model-picker.tsx";
import { SaveBar } from "../../ui/save-bar.tsx";
import { usePatch } from "./change.ts";
import type { Key } from "./queries.ts";
import { useMay } from "./rights.ts";

const fieldsOf = (key: Key) => ({ model_allowlist: key.model_allowlist });
export function Models({ apiKey }: { apiKey: Key }) {
  const draft = useDraft(apiKey, fieldsOf);
  const may = useMay(apiKey);
  const disabled = !may("key.change") || apiKey.status === "revoked";
  const change = usePatch(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run(draft.fields);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md" maw={720}>
        <ModelPicker
          value={draft.fields.model_allowlist}
          set={(models) => draft.set({ model_allowlist: models })}
          outOfScope={apiKey.out_of_scope_models}
          error={change.at("model_allowlist")}
          disabled={disabled}
        />
        {!disabled && <SaveBar draft={draft} change={change} shown={["model_allowlist"]} />}
      </Stack>
    </form>
  );
}
