/** The form fields of one text model of a provider that is added by hand. */
import { Group, Select, TextInput } from "@mantine/core";
import type { TextModelFields } from "./model-rows.ts";

const protocols = [
  { value: "chat", label: "Chat Completions" },
  { value: "responses", label: "Responses" },
  { value: "messages", label: "Messages" },
  { value: "generate_content", label: "generateContent" },
];

const modelName = {
  placeholder: "vendor/model",
  pattern: String.raw`[^\s\/:]+\/[^\s:]+`,
  required: true,
} as const;
const whole = { inputMode: "numeric", pattern: "[1-9][0-9]{0,9}" } as const;
const amount = { inputMode: "decimal", pattern: String.raw`[0-9]{1,9}(\.[0-9]{1,9})?` } as const;

export const TextModelForm = () => (
  <>
    <Group grow align="start">
      <TextInput name="model" label="Model" description="The id that callers use." {...modelName} />
      <TextInput
        name="upstream"
        label="Upstream name"
        description="Empty: the part after the slash."
      />
    </Group>
    <Group grow align="start">
      <Select
        name="protocol"
        label="Protocol"
        data={protocols}
        defaultValue="chat"
        allowDeselect={false}
      />
      <TextInput name="context" label="Context (tokens)" required {...whole} />
      <TextInput name="output" label="Longest output (tokens)" required {...whole} />
    </Group>
    <Group grow align="start">
      <TextInput name="input_price" label="USD per million tokens in" required {...amount} />
      <TextInput name="output_price" label="USD per million tokens out" required {...amount} />
    </Group>
  </>
);

/** Reads the form. */
export const textModelFields = (field: (name: string) => string): TextModelFields => ({
  id: field("model"),
  upstream: field("upstream"),
  protocol: field("protocol"),
  context: field("context"),
  output: field("output"),
  inputPrice: field("input_price"),
  outputPrice: field("output_price"),
});
