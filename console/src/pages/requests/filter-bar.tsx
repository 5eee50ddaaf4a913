/** The filters of the log. Each change is a new URL. */
import { Button, Group, Select, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { RefObject } from "react";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { useWritten } from "../../ui/form.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { Filters as FilterPlace } from "../../ui/filters.tsx";
import { KeySelect } from "../../ui/key-select.tsx";
import { Chips } from "./chips.tsx";
import { csvOf, filterNames, type Filters } from "./filters.ts";

const statuses = [
  { value: "succeeded", label: "ok" },
  { value: "failed", label: "failed" },
  { value: "client_closed", label: "caller disconnected" },
  { value: "expired", label: "expired" },
  { value: "failed,expired", label: "failed or expired" },
  { value: "canceled", label: "canceled" },
];

/** Text filters, applied with the Filter button. */
const texts = [
  ["model", "Model"],
  ["provider", "Provider"],
  ["q", "Text in the error"],
  ["tag", "Tag, such as team:search"],
] as const;

const textNames = texts.map(([name]) => name);

interface ButtonsProps {
  readonly filters: Filters;
  readonly form: RefObject<HTMLFormElement | null>;
}

const isSetIn = (filters: Filters) => (name: (typeof filterNames)[number]) =>
  filters[name] !== undefined;

function Buttons({ filters, form }: ButtonsProps) {
  const navigate = useNavigate();
  return (
    <>
      <Button type="submit" variant="default">
        Filter
      </Button>
      <ClearFilters
        form={form}
        isSet={filterNames.some(isSetIn(filters))}
        clear={() => void navigate({ to: "/requests", search: ({ ws }) => ({ ws }) })}
      />
      <CsvButton path="/admin/v1/requests" query={() => csvOf(filters)} name="requests" size="sm" />
    </>
  );
}

/** The form fields: typed text applies when it is submitted. */
function Fields({ filters }: { filters: Filters }) {
  const navigate = useNavigate();
  const { form, written } = useWritten(textNames);
  const set = (change: Partial<Filters>) =>
    void navigate({
      to: "/requests",
      search: ({ live }) => ({ ...filters, live, ...written(), ...change }),
    });
  return (
    <form
      ref={form}
      key={texts.map(([name]) => filters[name]).join(" ")}
      onSubmit={(event) => {
        event.preventDefault();
        set({});
      }}
    >
      <Group gap="sm" mb="lg" align="end">
        <Select
          aria-label="Outcome"
          placeholder="Any outcome"
          w={150}
          clearable
          data={statuses}
          value={filters.status ?? null}
          onChange={(status) => set({ status: status ?? undefined })}
        />
        <KeySelect ws={filters.ws} value={filters.key} set={(key) => set({ key })} />
        <Chips filters={filters} set={set} />
        {texts.map(([name, label]) => (
          <TextInput
            key={name}
            name={name}
            aria-label={label}
            placeholder={label}
            maxLength={name === "tag" ? 600 : 100}
            defaultValue={filters[name]}
            {...(name === "tag" && { pattern: "[^:]+:.*", title: "A name, a colon and a value" })}
          />
        ))}
        <Buttons filters={filters} form={form} />
      </Group>
    </form>
  );
}

export const FilterBar = ({ filters }: { filters: Filters }) => (
  <FilterPlace count={filterNames.filter(isSetIn(filters)).length}>
    <Fields filters={filters} />
  </FilterPlace>
);
