/** Adds a provider without a preset: dialect, address, key and models. */
import {
  Button,
  Group,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { FormError } from "../../ui/form-error.tsx";
import { fieldsOf } from "../../ui/form.ts";
import { useAdd, type AddBody } from "./mutations.ts";
import { readModels, textModelRow } from "./model-rows.ts";
import { TextModelForm, textModelFields } from "./text-model.tsx";

type Dialect = NonNullable<Schemas["AddProviderRequest"]["dialect"]>;

/** All dialects: the compiler reports a missing one. */
const dialects: Readonly<Record<Dialect, string>> = {
  "openai-compatible": "Compatible with OpenAI",
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
  xai: "xAI",
  dashscope: "DashScope",
  ark: "Ark",
  azure: "Azure",
  vertex: "Vertex AI",
  bedrock: "Bedrock",
};
const dialectChoices = Object.entries(dialects).map(([value, label]) => ({ value, label }));

/** Shows one of the two input ways and sends it. The other keeps its input, and its required fields are not checked. */
function ModelsField({ asJson, mistake }: { asJson: boolean; mistake: string | undefined }) {
  return (
    <>
      <fieldset className="plain" hidden={asJson} disabled={asJson}>
        <Stack gap="md">
          <TextModelForm />
        </Stack>
      </fieldset>
      <fieldset className="plain" hidden={!asJson} disabled={!asJson}>
        <Textarea
          name="models"
          label="Models"
          description="A list as in the configuration file. Each offer is of this provider."
          autosize
          minRows={6}
          maxRows={16}
          spellCheck={false}
          error={mistake}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        />
      </fieldset>
    </>
  );
}

export function AddByHand() {
  const add = useAdd();
  const [asJson, setAsJson] = useState(false);
  const [mistake, setMistake] = useState<string>();
  const send = (field: (name: string) => string) => {
    const models = asJson ? readModels(field("models")) : [textModelRow(textModelFields(field))];
    setMistake(typeof models === "string" ? models : undefined);
    if (typeof models === "string") return;
    const body = {
      id: field("provider"),
      dialect: field("dialect"),
      base_url: field("base_url"),
      api_key: field("api_key") || "none",
      models,
    } as unknown as AddBody;
    add.run(body);
  };
  return (
    <form onSubmit={(event) => send(fieldsOf(event))}>
      <Stack gap="md">
        <Group grow align="start">
          <TextInput name="provider" label="Name" required maxLength={64} autoComplete="off" />
          <Select
            name="dialect"
            label="Dialect"
            data={dialectChoices}
            defaultValue="openai-compatible"
            allowDeselect={false}
          />
        </Group>
        <TextInput
          name="base_url"
          label="Address"
          description="With its version, such as /v1."
          placeholder="https://api.example.com/v1"
          type="url"
          required
          autoComplete="off"
        />
        <PasswordInput
          name="api_key"
          label="Key"
          description="Stored encrypted; never shown again. Empty if the server needs none."
          autoComplete="off"
        />
        <SegmentedControl
          aria-label="Models"
          data={["A text model", "Models as JSON"]}
          onChange={(value) => setAsJson(value === "Models as JSON")}
        />
        <ModelsField asJson={asJson} mistake={mistake} />
        <FormError error={add.error} />
        <Button type="submit" loading={add.isPending}>
          Add provider
        </Button>
      </Stack>
    </form>
  );
}
