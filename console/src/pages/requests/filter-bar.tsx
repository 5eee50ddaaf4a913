/** The filters of the log. Each change is a new address. */
import { Button, Group, Select, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../ui/form.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { PeriodPicker } from "../../ui/period-picker.tsx";
import { SetFilters } from "../../ui/set-filters.tsx";
import { csvOf, type Filters } from "./filters.ts";

const statuses = [
  { value: "succeeded", label: "ok" },
  { value: "failed", label: "failed" },
  { value: "client_closed", label: "caller left" },
  { value: "expired", label: "expired" },
  { value: "failed,expired", label: "failed or expired" },
  { value: "canceled", label: "canceled" },
];

/** Keys to choose from; of a longer list the rest is found by its page. */
function useKeys(ws: string | undefined) {
  const query = { limit: "100", ...(ws !== undefined && { workspace_id: ws }) };
  const { data } = api.useQuery("get", "/admin/v1/keys", { params: { query } });
  return (data?.data ?? []).map(({ id, name, key_last4 }) => ({
    value: id,
    label: `${name} (...${key_last4})`,
  }));
}

/** People to choose from, for who may see others' calls. */
function useMembers(ws: string | undefined) {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const workspace = ws ?? me?.memberships[0]?.workspace_id;
  const { data } = api.useQuery(
    "get",
    "/admin/v1/workspaces/{id}/members",
    { params: { path: { id: workspace ?? "" }, query: { limit: "100" } } },
    { enabled: workspace !== undefined },
  );
  return (data?.data ?? []).map(({ user_id: value, email: label }) => ({ value, label }));
}

interface ChipsProps {
  readonly filters: Filters;
  readonly set: (change: Partial<Filters>) => void;
}

/** What counts as slow where the address says nothing else. */
const slowMs = "5000";
/** And what as dear. */
const dearUsd = "0.10";

interface ChipProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly turn: (isOn: boolean) => void;
}

const Chip = ({ label, isOn, turn }: ChipProps) => (
  <Button variant={isOn ? "filled" : "default"} aria-pressed={isOn} onClick={() => turn(!isOn)}>
    {label}
  </Button>
);

/** Whose calls, of which time, and only those that failed, took long or were changed. */
function Chips({ filters, set }: ChipsProps) {
  const { member, status, slower, changed, cost } = filters;
  const members = useMembers(filters.ws);
  return (
    <>
      {(members.length > 1 || member !== undefined) && (
        <Select
          aria-label="Member"
          placeholder="Anybody"
          w={200}
          searchable
          clearable
          data={members}
          value={member ?? null}
          onChange={(value) => set({ member: value ?? undefined })}
        />
      )}
      <PeriodPicker
        search={filters}
        fallback={null}
        set={(chosen) => set({ period: undefined, from: undefined, to: undefined, ...chosen })}
      />
      <Chip
        label="Failed"
        isOn={status === "failed"}
        turn={(isOn) => set({ status: isOn ? "failed" : undefined })}
      />
      <Chip
        label={`Over ${Number(slower ?? slowMs) / 1000} s`}
        isOn={slower !== undefined}
        turn={(isOn) => set({ slower: isOn ? slowMs : undefined })}
      />
      <Chip
        label={`From ${cost ?? dearUsd} USD`}
        isOn={cost !== undefined}
        turn={(isOn) => set({ cost: isOn ? dearUsd : undefined })}
      />
      <Chip
        label="Changed"
        isOn={changed !== undefined}
        turn={(isOn) => set({ changed: isOn ? "1" : undefined })}
      />
      <SetFilters
        names={["protocol", "code", "http", "user"]}
        filters={filters}
        remove={(name) => set({ [name]: undefined })}
      />
    </>
  );
}

/** What is written, and asked for with Filter. */
const texts = [
  ["model", "Model"],
  ["provider", "Provider"],
  ["q", "Text in the error"],
  ["tag", "Tag, as team:search"],
] as const;

/** What was written in them; nothing counts as no filter. */
const textsOf = (field: (name: string) => string): Partial<Filters> =>
  Object.fromEntries(texts.map(([name]) => [name, field(name) || undefined]));

function Buttons({ filters }: { filters: Filters }) {
  const navigate = useNavigate();
  return (
    <>
      <Button type="submit" variant="default">
        Filter
      </Button>
      <Button
        variant="subtle"
        onClick={() => void navigate({ to: "/requests", search: ({ ws }) => ({ ws }) })}
      >
        Clear
      </Button>
      <CsvButton path="/admin/v1/requests" query={() => csvOf(filters)} name="requests" />
    </>
  );
}

export function FilterBar({ filters }: { filters: Filters }) {
  const navigate = useNavigate();
  const keys = useKeys(filters.ws);
  const set = (change: Partial<Filters>) =>
    void navigate({ to: "/requests", search: ({ live }) => ({ ...filters, live, ...change }) });
  return (
    <form
      key={texts.map(([name]) => filters[name]).join(" ")}
      onSubmit={(event) => set(textsOf(fieldsOf(event)))}
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
        <Select
          aria-label="Key"
          placeholder="Any key"
          w={200}
          searchable
          clearable
          data={keys}
          value={filters.key ?? null}
          onChange={(key) => set({ key: key ?? undefined })}
        />
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
        <Buttons filters={filters} />
      </Group>
    </form>
  );
}
