/** Chooses models for an allowlist. Models that a higher layer excludes stay, and are marked. */
import { MultiSelect, Text } from "@mantine/core";
import { api } from "../api/client.ts";
import { nothingFound } from "./use-searched.ts";

interface ModelPickerProps {
  readonly value: readonly string[];
  readonly set: (models: string[]) => void;
  /** Saved models that are not callable now. */
  readonly outOfScope?: readonly string[];
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}

export function ModelPicker({
  value,
  set,
  outOfScope = [],
  error,
  disabled = false,
}: ModelPickerProps) {
  const read = api.useQuery("get", "/admin/v1/models", {}, { staleTime: 60_000 });
  const known = (read.data?.data ?? []).map(({ id }) => id);
  // Chosen models that are no longer configured can still be removed.
  const options = [...new Set([...known, ...value])];
  const left = value.filter((id) => outOfScope.includes(id));
  return (
    <>
      <MultiSelect
        label="Models that may be called"
        description="If empty: every model that the layers above allow."
        placeholder={value.length === 0 ? "Every model" : "Add a model"}
        searchable
        clearable
        hidePickedOptions
        limit={50}
        data={options}
        value={[...value]}
        onChange={set}
        error={error}
        disabled={disabled}
        nothingFoundMessage={nothingFound("Model", read)}
        clearButtonProps={{ "aria-label": "Allow every model" }}
      />
      {left.length > 0 && (
        <Text component="div" size="sm" mt="sm" role="note">
          Not callable now. A layer above does not allow them, or they are not configured:
          <ul>
            {left.map((id) => (
              <li key={id}>
                <s>{id}</s>
              </li>
            ))}
          </ul>
        </Text>
      )}
    </>
  );
}
