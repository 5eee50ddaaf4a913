/** The filters of the list of models. Each change is a new URL; only another key causes a new request. */
import { Group, Select } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { KeySelect } from "../../ui/key-select.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { kinds, type Filters, type Model } from "./filters.ts";

const providersOf = (models: readonly Model[]): string[] => [
  ...new Set(models.flatMap(({ offers }) => offers.map(({ provider }) => provider))),
];

const shown = ["q", "kind", "provider", "usable-by"] as const;

interface FilterBarProps {
  readonly filters: Filters;
  readonly ws: string | undefined;
  readonly models: readonly Model[];
}

export function FilterBar({ filters, ws, models }: FilterBarProps) {
  const navigate = useNavigate();
  const set = (change: Partial<Filters>) =>
    void navigate({
      to: "/models",
      search: (before) => ({ ...before, ...change }),
      replace: true,
    });
  return (
    <Group gap="sm" mb="lg">
      <SearchField label="Id or name" width={240} text={filters.q} set={(q) => set({ q })} />
      <Select
        aria-label="Kind"
        placeholder="Any kind"
        w={140}
        clearable
        data={[...kinds]}
        value={filters.kind ?? null}
        onChange={(kind) => set({ kind: kind ?? undefined })}
      />
      <Select
        aria-label="Provider"
        placeholder="Any provider"
        w={180}
        searchable
        clearable
        limit={100}
        data={providersOf(models)}
        value={filters.provider ?? null}
        onChange={(provider) => set({ provider: provider ?? undefined })}
      />
      <KeySelect
        label="Only models of this key"
        placeholder="Any key"
        ws={ws}
        value={filters["usable-by"]}
        set={(key) => set({ "usable-by": key })}
      />
      <ClearFilters
        isSet={shown.some((name) => filters[name] !== undefined)}
        clear={() => void navigate({ to: "/models", search: (before) => ({ ws: before.ws }) })}
      />
    </Group>
  );
}
