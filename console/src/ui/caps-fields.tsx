/** Form fields of spend caps. Amounts are text, never JavaScript numbers. */
import { Checkbox, SimpleGrid, TextInput } from "@mantine/core";
import { windows, type CapFields, type Window } from "../base/caps.ts";

const labels: Readonly<Record<Window, string>> = {
  daily: "Daily cap (USD)",
  weekly: "Weekly cap (USD)",
  monthly: "Monthly cap (USD)",
  total: "Total cap (USD)",
};

const amountShape = /^\s*\d+(\.\d{1,9})?\s*$/;

/** The refusal of an amount: our own hint if the text is no amount, otherwise the API's message. */
const wordsOf = (refusal: string | undefined, text: string): string | undefined =>
  refusal === undefined || amountShape.test(text)
    ? refusal
    : "Enter an amount such as 5 or 0.50, with at most nine decimals. Empty: no cap.";

interface CapsFieldsProps {
  readonly fields: CapFields;
  readonly set: (fields: CapFields) => void;
  /** The refusal of a field, by its API name. */
  readonly at: (name: string) => string | undefined;
  readonly shown?: readonly Window[];
  readonly disabled?: boolean;
  readonly description?: string | undefined;
}

export function CapsFields(props: CapsFieldsProps) {
  const { fields, set, at, shown = windows, disabled = false, description } = props;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        {shown.map((window) => (
          <TextInput
            key={window}
            label={labels[window]}
            placeholder="no cap"
            inputMode="decimal"
            autoComplete="off"
            value={fields[window]}
            disabled={disabled}
            error={wordsOf(at(`spend_caps.${window}`), fields[window])}
            onChange={({ currentTarget: { value } }) => set({ ...fields, [window]: value })}
          />
        ))}
      </SimpleGrid>
      <Checkbox
        mt="sm"
        label="Hard: reservations of running calls count too"
        description={description}
        checked={fields.hard}
        disabled={disabled}
        onChange={({ currentTarget: { checked } }) => set({ ...fields, hard: checked })}
      />
    </>
  );
}
