/** Form fields of rate limits: requests and tokens a minute, and concurrent calls. */
import { NumberInput, SimpleGrid } from "@mantine/core";
import type { ReactNode } from "react";
import { limitNames, type LimitFields, type LimitName } from "../base/limits.ts";

const labels: Readonly<Record<LimitName, string>> = {
  requests_per_minute: "Requests per minute",
  tokens_per_minute: "Tokens per minute",
  concurrency: "Concurrent calls",
};

interface LimitsFieldsProps {
  readonly fields: LimitFields;
  readonly set: (fields: LimitFields) => void;
  /** The refusal of a field, by its API name. */
  readonly at: (name: string) => string | undefined;
  readonly disabled?: boolean;
  /** Why the limits cannot be changed. */
  readonly description?: string | undefined;
  /** Fields beside them. */
  readonly children?: ReactNode;
}

export function LimitsFields(props: LimitsFieldsProps) {
  const { fields, set, at, disabled = false, description, children } = props;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      {limitNames.map((name, place) => (
        <NumberInput
          key={name}
          label={labels[name]}
          description={place === 0 ? description : undefined}
          placeholder="no limit"
          min={1}
          clampBehavior="none"
          allowDecimal={false}
          allowNegative={false}
          value={fields[name]}
          disabled={disabled}
          error={at(`rate_limits.${name}`)}
          onChange={(value) => set({ ...fields, [name]: value })}
        />
      ))}
      {children}
    </SimpleGrid>
  );
}
