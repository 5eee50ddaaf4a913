/** Form fields of routing: own or inherited, the order, and the providers. */
import { MultiSelect, Select, Stack, Switch } from "@mantine/core";
import { api } from "../api/client.ts";
import { sorts, tiers, type Routing } from "../base/routing.ts";
import { nothingFound } from "./use-searched.ts";

interface RoutingFieldsProps {
  readonly value: Routing;
  readonly set: (routing: Routing) => void;
  readonly at: (name: string) => string | undefined;
  readonly disabled?: boolean;
}

const sortNames: Readonly<Record<(typeof sorts)[number], string>> = {
  balanced: "balanced: spread, cheaper ones more often",
  price: "price: the cheapest first",
  latency: "latency: the first to answer",
  throughput: "throughput: the most tokens a second",
};
const sortData = sorts.map((value) => ({ value, label: sortNames[value] }));

export function RoutingFields({ value, set, at, disabled = false }: RoutingFieldsProps) {
  const read = api.useQuery("get", "/admin/v1/providers", {}, { staleTime: 60_000 });
  const providers = (read.data?.data ?? []).map(({ id }) => id);
  const isOwn = value.mode === "custom";
  const common = { disabled: disabled || !isOwn, searchable: true, clearable: true };
  return (
    <Stack gap="md">
      <Switch
        label="Own routing"
        description="Off: the layer above decides."
        checked={isOwn}
        disabled={disabled}
        onChange={({ currentTarget: { checked } }) =>
          set({ ...value, mode: checked ? "custom" : "follow" })
        }
      />
      <Select
        {...common}
        label="Order"
        placeholder="Set by the layer above"
        data={sortData}
        value={value.sort}
        error={at("routing.sort")}
        onChange={(chosen) =>
          set({ ...value, sort: sorts.find((sort) => sort === chosen) ?? null })
        }
      />
      <MultiSelect
        {...common}
        label="Supply tiers"
        placeholder={value.supply_tiers.length === 0 ? "Every tier" : ""}
        data={tiers}
        value={[...value.supply_tiers]}
        error={at("routing.supply_tiers")}
        onChange={(chosen) => set({ ...value, supply_tiers: chosen })}
      />
      <MultiSelect
        {...common}
        label="Only these providers"
        placeholder={value.pinned_providers.length === 0 ? "Every provider" : ""}
        data={[...new Set([...providers, ...value.pinned_providers])]}
        value={[...value.pinned_providers]}
        nothingFoundMessage={nothingFound("Provider", read)}
        error={at("routing.pinned_providers")}
        onChange={(chosen) => set({ ...value, pinned_providers: chosen })}
      />
      <MultiSelect
        {...common}
        label="These providers first"
        placeholder={value.preferred_providers.length === 0 ? "None" : ""}
        data={[...new Set([...providers, ...value.preferred_providers])]}
        value={[...value.preferred_providers]}
        nothingFoundMessage={nothingFound("Provider", read)}
        error={at("routing.preferred_providers")}
        onChange={(chosen) => set({ ...value, preferred_providers: chosen })}
      />
    </Stack>
  );
}
