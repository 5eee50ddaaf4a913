/** The filters of the gallery. Each change is a new URL. */
import { Group, SegmentedControl, Select } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { Filters as FilterPlace } from "../../ui/filters.tsx";
import { KeySelect } from "../../ui/key-select.tsx";
import { searchableSelect } from "../../ui/use-searched.ts";
import { filterNames, kindChoices, stateChoices, type Filters } from "./filters.ts";
import { useModelChoices } from "./queries.ts";

interface FilterBarProps {
  readonly filters: Filters;
  readonly ws: string | undefined;
}

function Fields({ filters, ws }: FilterBarProps) {
  const navigate = useNavigate();
  const models = useModelChoices();
  const set = (change: Partial<Filters>) =>
    void navigate({ to: "/tasks", search: (before) => ({ ...before, ...change }) });
  const choice = (name: "status" | "kind" | "model") => ({
    w: 180,
    clearable: true,
    value: filters[name] ?? null,
    onChange: (value: string | null) => set({ [name]: value ?? undefined }),
  });
  return (
    <Group gap="sm" mb="lg">
      <Select
        aria-label="State"
        placeholder="Any state"
        data={[...stateChoices]}
        {...choice("status")}
      />
      <Select
        aria-label="Kind"
        placeholder="Any kind"
        data={[...kindChoices]}
        {...choice("kind")}
      />
      <Select
        aria-label="Model"
        placeholder="Any model"
        {...searchableSelect}
        limit={100}
        data={[...models]}
        {...choice("model")}
      />
      <KeySelect ws={ws} value={filters.key} set={(key) => set({ key })} />
      <ClearFilters
        isSet={filterNames.some((name) => filters[name] !== undefined)}
        clear={() =>
          void navigate({
            to: "/tasks",
            search: (before) => ({ ws: before.ws, view: before.view }),
          })
        }
      />
    </Group>
  );
}

const names = ["status", "kind", "model", "key"] as const;

export function FilterBar(props: FilterBarProps) {
  const { filters } = props;
  const navigate = useNavigate();
  const show = (view: string | undefined) =>
    void navigate({ to: "/tasks", search: (before) => ({ ...before, view }) });
  return (
    <Group gap="sm" align="flex-start">
      <SegmentedControl
        aria-label="Shown as"
        value={filters.view === "table" ? "table" : "grid"}
        data={[
          { value: "grid", label: "Gallery" },
          { value: "table", label: "Table" },
        ]}
        onChange={(view) => show(view === "table" ? view : undefined)}
      />
      <FilterPlace count={names.filter((name) => filters[name] !== undefined).length}>
        <Fields {...props} />
      </FilterPlace>
    </Group>
  );
}
