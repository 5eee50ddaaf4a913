/** Form fields for storing call bodies: which calls, for how long, and who can read them. */
import { Group, Select, TextInput } from "@mantine/core";

type Kept = "off" | "errors" | "all";

const choices: readonly { value: Kept; label: string }[] = [
  { value: "off", label: "No calls" },
  { value: "errors", label: "Calls that failed" },
  { value: "all", label: "All calls" },
];

interface BodyFieldsProps {
  readonly kept: Kept;
  readonly days: string;
  readonly set: (change: { keep_bodies?: Kept; body_retention_days?: string }) => void;
  readonly at: (name: string) => string | undefined;
}

export const BodyFields = ({ kept, days, set, at }: BodyFieldsProps) => (
  <Group gap="md" align="start">
    <Select
      label="Store the text of"
      description="Requests and answers, encrypted. Workspace admins can read all of them, members their own."
      w={420}
      allowDeselect={false}
      data={[...choices]}
      value={kept}
      error={at("keep_bodies")}
      onChange={(value) => set({ keep_bodies: choices.find((one) => one.value === value)!.value })}
    />
    <TextInput
      label="Days to store"
      description="1 to 90. After that, the text is deleted."
      inputMode="numeric"
      w={200}
      value={days}
      error={at("body_retention_days")}
      onChange={({ currentTarget }) => set({ body_retention_days: currentTarget.value })}
    />
  </Group>
);
