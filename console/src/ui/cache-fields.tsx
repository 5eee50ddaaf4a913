/** Form fields of a key's response cache. */
import { NumberInput, SimpleGrid } from "@mantine/core";
import { readSpan, type CacheFields as Fields } from "../base/cache.ts";

const monthSeconds = 30 * 24 * 60 * 60;

interface CacheFieldsProps {
  readonly fields: Fields;
  readonly set: (fields: Fields) => void;
  /** The refusal of a field, by its API name. */
  readonly at: (name: string) => string | undefined;
  readonly disabled?: boolean;
  /** The reader may only switch it off. */
  readonly isOnlyOff?: boolean;
}

/** The description below the time field. */
function timeWords({ seconds }: Fields, isOnlyOff: boolean): string {
  if (isOnlyOff)
    return seconds === ""
      ? "Only a workspace admin can switch it on."
      : "Empty it to switch the cache off. Only a workspace admin can change it.";
  if (seconds === "") return "For this time, the same request gets the same answer again.";
  return `${readSpan(Number(seconds))}: the same request gets the same answer again.`;
}

export function CacheFields(props: CacheFieldsProps) {
  const { fields, set, at, disabled = false, isOnlyOff = false } = props;
  const isOff = fields.seconds === "";
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      <NumberInput
        label="Response cache (seconds)"
        description={timeWords(fields, isOnlyOff)}
        placeholder="off"
        min={1}
        max={monthSeconds}
        clampBehavior="none"
        allowDecimal={false}
        allowNegative={false}
        value={fields.seconds}
        disabled={disabled || (isOnlyOff && isOff)}
        error={at("response_cache.ttl_seconds")}
        onChange={(seconds) => set({ ...fields, seconds })}
      />
      <NumberInput
        label="Price of a repeat (%)"
        description="Percentage of the charge of the first answer."
        placeholder="0"
        min={0}
        max={100}
        clampBehavior="none"
        allowDecimal={false}
        allowNegative={false}
        value={isOff ? "" : fields.percent}
        disabled={disabled || isOff || isOnlyOff}
        error={at("response_cache.charge_percent")}
        onChange={(percent) => set({ ...fields, percent })}
      />
    </SimpleGrid>
  );
}
