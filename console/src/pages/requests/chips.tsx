/** One-click filters: member, period, order, and only failed, slow, expensive or changed calls. */
import { Button, Select } from "@mantine/core";
import { api } from "../../api/client.ts";
import { mayAll } from "../../base/rights.ts";
import { MemberSelect } from "../../ui/member-select.tsx";
import { PeriodPicker } from "../../ui/period-picker.tsx";
import { SetFilters } from "../../ui/set-filters.tsx";
import type { Filters } from "./filters.ts";

interface ChipsProps {
  readonly filters: Filters;
  readonly set: (change: Partial<Filters>) => void;
}

/** The default limit of slow calls, in ms. */
const slowMs = "5000";
/** The default limit of expensive calls, in USD. */
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

/** Filters by member, if the reader may see other members' calls: that is known before the members load. */
function Member({ filters, set }: ChipsProps) {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const workspace = filters.ws ?? me?.memberships[0]?.workspace_id;
  const seesOthers = me !== undefined && mayAll(me.rights, "member.read", workspace);
  if (workspace === undefined || (!seesOthers && filters.member === undefined)) return null;
  return (
    <MemberSelect
      aria-label="Member"
      placeholder="Any member"
      w={200}
      ws={workspace}
      value={filters.member}
      set={(member) => set({ member })}
    />
  );
}

export function Chips({ filters, set }: ChipsProps) {
  const { status, slower, changed, cost, sort } = filters;
  return (
    <>
      <Member filters={filters} set={set} />
      <PeriodPicker
        search={filters}
        fallback={null}
        set={(chosen) => set({ period: undefined, from: undefined, to: undefined, ...chosen })}
      />
      <Select
        aria-label="Order"
        w={150}
        allowDeselect={false}
        data={[
          { value: "", label: "Newest first" },
          { value: "cost", label: "Most expensive first" },
        ]}
        value={sort ?? ""}
        onChange={(value) => set({ sort: value === "cost" ? value : undefined })}
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
        names={["asked", "protocol", "code", "http", "user"]}
        filters={filters}
        remove={(name) => set({ [name]: undefined })}
      />
    </>
  );
}
