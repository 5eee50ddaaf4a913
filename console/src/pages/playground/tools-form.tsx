/** The tools as JSON, with their fault and two examples. */
import { Button, Group, Text, Textarea } from "@mantine/core";
import { examples } from "./tools.ts";

interface ToolsFormProps {
  readonly text: string;
  readonly fault: string | undefined;
  readonly change: (text: string) => void;
}

export const ToolsForm = ({ text, fault, change }: ToolsFormProps) => (
  <div className="panel">
    <Textarea
      label="Tools"
      description="A list of functions with name, description and parameters (JSON Schema). Calls of the model are shown, not run."
      value={text}
      error={fault}
      autosize
      minRows={4}
      maxRows={16}
      spellCheck={false}
      classNames={{ input: "mono" }}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
    <Group gap="sm" mt="sm">
      {Object.entries(examples).map(([label, example]) => (
        <Button key={label} size="xs" variant="default" onClick={() => change(example)}>
          {label}
        </Button>
      ))}
      {text !== "" && (
        <Button size="xs" variant="default" onClick={() => change("")}>
          Remove tools
        </Button>
      )}
      {text !== "" && fault === undefined && <Text size="sm">The tools are valid.</Text>}
    </Group>
  </div>
);
