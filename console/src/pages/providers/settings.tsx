/** The settings of a provider that was added here. Those from a file or the environment are changed there. */
import { Button, Group, PasswordInput, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { FormError } from "../../ui/form-error.tsx";
import { fieldsOf } from "../../ui/form.ts";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Part } from "../../ui/part.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { readModels } from "./model-rows.ts";
import { useChangeProvider, type Stored } from "./mutations.ts";
import type { Provider } from "./state.ts";

const monospace = { input: { fontFamily: "var(--mantine-font-family-monospace)" } };
const textOf = ({ model_rows: rows }: Stored): string =>
  rows == null ? "" : JSON.stringify(rows, null, 2);

/** The fields that differ from the stored ones; unchanged ones are left out. */
function changeOf(stored: Stored, field: (name: string) => string) {
  const address = field("base_url");
  const key = field("api_key");
  return {
    ...(address !== (stored.base_url ?? "") && { base_url: address === "" ? null : address }),
    ...(field("tier") !== stored.tier && { tier: field("tier") }),
    ...(field("on_disconnect") !== stored.on_disconnect && {
      on_disconnect: field("on_disconnect"),
    }),
    ...(key !== "" && { api_key: key }),
  };
}

interface FieldsProps {
  readonly shown: Stored;
  readonly refusal: (name: string) => string | undefined;
  readonly touch: () => void;
}

const Fields = ({ shown, refusal, touch }: FieldsProps) => (
  <>
    <TextInput
      name="base_url"
      label="Address"
      defaultValue={shown.base_url}
      error={refusal("base_url")}
      autoComplete="off"
    />
    <Group grow align="start">
      <Select
        name="tier"
        label="Supply tier"
        data={["official", "partner", "community"]}
        defaultValue={shown.tier}
        allowDeselect={false}
        onChange={touch}
      />
      <Select
        name="on_disconnect"
        label="When a caller disconnects"
        data={[
          { value: "abort", label: "End the upstream call" },
          { value: "drain", label: "Read the answer to its end" },
        ]}
        defaultValue={shown.on_disconnect}
        allowDeselect={false}
        onChange={touch}
      />
    </Group>
    {(shown.credentials?.length ?? 0) < 2 && (
      <PasswordInput
        name="api_key"
        label="New key"
        description="Replaces the current key; empty keeps it. Running calls keep the old one."
        error={refusal("api_key")}
        autoComplete="off"
      />
    )}
    <Textarea
      name="models"
      label="Models as JSON"
      description="As in the configuration file. Empty: the models of its vendor."
      defaultValue={textOf(shown)}
      error={refusal("models")}
      autosize
      minRows={3}
      maxRows={20}
      spellCheck={false}
      styles={monospace}
    />
  </>
);

function Form({ stored }: { stored: Stored }) {
  // Keeps a started edit, whatever is read meanwhile. `round` counts how often the fields were filled anew.
  const [form, setForm] = useState({ shown: stored, edits: 0, round: 0 });
  const { shown, edits, round } = form;
  if (edits === 0 && shown.version !== stored.version)
    setForm({ shown: stored, edits, round: round + 1 });
  const touch = () => setForm((now) => ({ ...now, edits: now.edits + 1 }));
  const change = useChangeProvider(shown, {
    // Edits since the change was sent stay, now based on the saved provider.
    settled: (saved) =>
      setForm((now) => (now.edits === edits ? { ...now, edits: 0 } : { ...now, shown: saved })),
    dropped: () => setForm((now) => ({ ...now, edits: 0 })),
  });
  const [mistake, setMistake] = useState<string>();
  const save = (field: (name: string) => string) => {
    const text = field("models");
    const isSame = text.trim() === textOf(shown).trim();
    const models = isSame || text.trim() === "" ? null : readModels(text);
    setMistake(typeof models === "string" ? models : undefined);
    if (typeof models === "string") return;
    const body = { ...changeOf(shown, field), ...(!isSame && { models }) };
    change.run(body as unknown as Parameters<typeof change.run>[0]);
  };
  return (
    <form key={round} onChange={touch} onSubmit={(event) => save(fieldsOf(event))}>
      <Stack gap="md">
        <Fields
          shown={shown}
          refusal={(name) => (name === "models" ? mistake : undefined) ?? change.at(name)}
          touch={touch}
        />
        <FormError error={change.beside("base_url", "api_key", "models")} />
        <LeaveGuard isChanged={edits > 0} />
        <Group>
          <Button type="submit" loading={change.isPending}>
            Save changes
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function Settings({ provider }: { provider: Provider }) {
  const { id, source } = provider;
  const isOurs = source === "api";
  const params = { path: { id } };
  const read = api.useQuery("get", "/admin/v1/providers/{id}", { params }, { enabled: isOurs });
  if (!isOurs) return null;
  return (
    <Part title="Settings">
      {read.error !== null && (
        <RegionError what="settings" error={read.error} retry={read.refetch} />
      )}
      {read.data !== undefined && <Form stored={read.data} />}
    </Part>
  );
}
