/** The model picker: several models in text mode, otherwise one. */
import { MultiSelect, Select } from "@mantine/core";
import type { Mode } from "./modes.ts";
import type { Callable } from "./queries.ts";

const modelsMax = 4;

interface PickerProps {
  readonly mode: Mode;
  readonly models: readonly Callable[];
  readonly chosen: readonly string[];
  readonly choose: (ids: readonly string[]) => void;
}

export function Picker({ mode, models, chosen, choose }: PickerProps) {
  const data = models.map(({ id }) => id);
  const common = { data, w: 320, maw: "100%", searchable: true, limit: 100 } as const;
  return mode === "text" ? (
    <MultiSelect
      {...common}
      label="Models"
      value={[...chosen]}
      maxValues={modelsMax}
      onChange={choose}
    />
  ) : (
    <Select
      {...common}
      label="Model"
      allowDeselect={false}
      value={chosen[0] ?? null}
      onChange={(id) => choose(id === null ? [] : [id])}
    />
  );
}
