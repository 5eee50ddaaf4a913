/** The filters of the list of keys. Each change is a new URL. */
import { Button, Group, Select, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useWritten } from "../../ui/form.ts";
import { MemberSelect, useHasMember } from "../../ui/member-select.tsx";
import { filtersOf, sortChoices, statusChoices, type Filters } from "./filters.ts";

const texts = ["q"] as const;

type Changed = Partial<Record<keyof Filters, string | undefined>>;

/** Filters keys by owner, if there are other members. */
function Owner({ filters, set }: { filters: Filters; set: (change: Changed) => void }) {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const workspace = filters.ws ?? me?.memberships[0]?.workspace_id;
  const hasOthers = useHasMember(workspace, ({ user_id: id }) => id !== me?.user_id);
  if (workspace === undefined || (!hasOthers && filters.owner === undefined)) return null;
  return (
    <MemberSelect
      aria-label="Owner"
      placeholder="Any owner"
      w={200}
      ws={workspace}
      isActive
      value={filters.owner}
      set={(owner) => set({ owner })}
    />
  );
}

export function FilterBar({ filters }: { filters: Filters }) {
  const navigate = useNavigate();
  const { form, written } = useWritten(texts);
  const set = (change: Changed) =>
    void navigate({ to: "/keys", search: filtersOf({ ...filters, ...written(), ...change }) });
  return (
    <form
      ref={form}
      key={filters.q}
      onSubmit={(event) => {
        event.preventDefault();
        set({});
      }}
    >
      <Group gap="sm" mb="lg" align="end">
        <TextInput
          name="q"
          aria-label="Name or last four characters"
          placeholder="Name or last four"
          defaultValue={filters.q}
          maxLength={100}
        />
        <Select
          aria-label="Status"
          placeholder="Any status"
          w={140}
          clearable
          data={statusChoices}
          value={filters.status ?? null}
          onChange={(status) => set({ status: status ?? undefined })}
        />
        <Owner filters={filters} set={set} />
        <Select
          aria-label="Order"
          placeholder="Newest first"
          w={190}
          clearable
          data={sortChoices}
          value={filters.sort ?? null}
          onChange={(sort) => set({ sort: sort ?? undefined })}
        />
        <Button type="submit" variant="default">
          Search
        </Button>
      </Group>
    </form>
  );
}
