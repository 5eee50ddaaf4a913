/** Which columns the log has: chosen once, kept in this browser. */
import { Button, Checkbox, Popover, Stack } from "@mantine/core";
import { keptAs, useKept } from "../../ui/kept.ts";
import { choosable, usual } from "./columns.tsx";

const kept = keptAs("tollgate-request-columns");

/** The headers of the chosen ones; what is kept and is no column any more is left out. */
export function useChosen(): readonly string[] {
  const text = useKept(kept);
  return text === undefined ? usual : choosable.filter((one) => text.split(",").includes(one));
}

/** What is kept of a choice; of the usual one nothing, so that it stays the usual one. */
function keep(chosen: readonly string[]): void {
  const ordered = choosable.filter((one) => chosen.includes(one)).join(",");
  kept.write(ordered === usual.join(",") ? undefined : ordered);
}

export function ColumnChoice() {
  const chosen = useChosen();
  return (
    <Popover trapFocus position="bottom-end" withinPortal>
      <Popover.Target>
        <Button variant="default" visibleFrom="sm">
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        <Checkbox.Group aria-label="Columns" value={[...chosen]} onChange={keep}>
          <Stack gap="xs">
            {choosable.map((header) => (
              <Checkbox key={header} value={header} label={header} />
            ))}
          </Stack>
        </Checkbox.Group>
        <Button
          mt="md"
          size="xs"
          variant="default"
          disabled={chosen === usual}
          onClick={() => keep(usual)}
        >
          As at first
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}
