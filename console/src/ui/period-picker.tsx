/** Chooses a page's period, kept in the URL: a word, or a range of days (UTC). */
import { Button, Group, Popover, Select, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { dayMs } from "../base/durations.ts";
import { inSentence, periodChoices, type PeriodSearch } from "../base/period.ts";
import { fieldsOf } from "./form.ts";

interface PeriodPickerProps {
  readonly search: PeriodSearch;
  /** The default if the URL has no period: a word, or null for all times. */
  readonly fallback: string | null;
  readonly set: (search: PeriodSearch) => void;
}

const dayOf = (text: string | undefined, before = 0): string => {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? "" : new Date(ms - before).toISOString().slice(0, 10);
};

/** From the first day to the end of the last. */
function spanOf(first: string, last: string): PeriodSearch {
  const end = Date.parse(`${last}T00:00:00Z`);
  return {
    ...(first !== "" && { from: `${first}T00:00:00Z` }),
    ...(!Number.isNaN(end) && { to: new Date(end + dayMs).toISOString() }),
  };
}

/** The last day that has an end with a year of four digits, as the API requires. */
const lastDay = "9999-12-30";

/** Esc closes only these days, not also the drawer of filters that they are in. */
const ownEscape = { "data-mantine-stop-propagation": "true" };

type Fault = Partial<Record<"first" | "last", string>>;

/** The faults of two days, by field; empty if none. A page that always has a period cannot show all times up to a day. */
function faultOf(first: string, last: string, fallback: string | null): Fault {
  if (last === "" || (first !== "" && first <= last)) return {};
  if (first !== "") return { last: "It is before the first day." };
  return fallback === null ? {} : { first: "Choose the first day too." };
}

function Days({ search, fallback, set }: PeriodPickerProps) {
  const [open, setOpen] = useState(false);
  const [fault, setFault] = useState<Fault>({});
  const show = (isOpen: boolean) => {
    setOpen(isOpen);
    setFault({});
  };
  return (
    <Popover opened={open} onChange={show} trapFocus position="bottom-end" withinPortal>
      <Popover.Target>
        <Button variant="default" flex="none" onClick={() => show(!open)}>
          Choose days
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Choose days">
        <form
          onSubmit={(event) => {
            const field = fieldsOf(event);
            // It may be inside another form.
            event.stopPropagation();
            const [first, last] = [field("first"), field("last")];
            const wrong = faultOf(first, last, fallback);
            setFault(wrong);
            if (Object.keys(wrong).length > 0) return;
            show(false);
            set(spanOf(first, last));
          }}
        >
          <TextInput
            {...ownEscape}
            type="date"
            max={lastDay}
            name="first"
            label="First day (UTC)"
            defaultValue={dayOf(search.from)}
            error={fault.first}
          />
          <TextInput
            {...ownEscape}
            type="date"
            max={lastDay}
            name="last"
            label="Last day (UTC)"
            mt="sm"
            defaultValue={dayOf(search.to, 1)}
            error={fault.last}
          />
          <Button type="submit" mt="md" {...ownEscape}>
            Show these days
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

const isDay = (text: string | undefined) => text === undefined || /T00:00:00(\.000)?Z$/.test(text);

/** "2026-11-01 14:00 to 15:00", in UTC. */
function hourWords(from: string, to: string): string {
  const [begin, end] = [from, to].map((text) =>
    new Date(text).toISOString().slice(0, 16).replace("T", " "),
  ) as [string, string];
  return `${begin} to ${begin.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end}`;
}

/** "2026-11-01 to 2026-11-07"; with times unless both are midnight. */
function words({ from, to }: PeriodSearch): string {
  if (from !== undefined && to !== undefined && (!isDay(from) || !isDay(to)))
    return hourWords(from, to);
  if (!isDay(from) || !isDay(to)) return "From the address";
  const [first, last] = [dayOf(from), dayOf(to, 1)];
  if (first === last) return first;
  return [first === "" ? "Up to" : first, last === "" ? "on" : last].join(
    first === "" || last === "" ? " " : " to ",
  );
}

export function PeriodPicker({ search, fallback, set }: PeriodPickerProps) {
  const hasMoments = search.from !== undefined || search.to !== undefined;
  const isKnown = periodChoices.some(({ value }) => value === search.period);
  return (
    <Group gap="sm" wrap="nowrap" maw="100%">
      <Select
        aria-label="Period"
        placeholder={hasMoments ? words(search) : "Any time"}
        title={hasMoments ? `${words(search)} (UTC)` : undefined}
        w={210}
        miw={0}
        clearable={fallback === null}
        allowDeselect={fallback === null}
        data={periodChoices}
        // Shows all without scrolling: a scroll container would take keyboard focus too.
        maxDropdownHeight={360}
        value={hasMoments ? null : isKnown ? search.period! : fallback}
        onChange={(period) => set(period === null || period === fallback ? {} : { period })}
      />
      <Days search={search} fallback={fallback} set={set} />
    </Group>
  );
}

/** Shows that the URL has an invalid period. */
export const UnreadPeriod = ({ unread, label }: { unread: boolean; label: string }) =>
  unread && (
    <Text component="output" display="block" size="sm" mb="md">
      The period in the address is not valid. Shown instead: {inSentence(label)}.
    </Text>
  );
