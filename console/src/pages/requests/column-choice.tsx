/** Chooses the columns of the log; the browser keeps the choice. */
import { Button, Checkbox, Popover, Stack } from "@mantine/core";
import { keptAs, useKept } from "../../ui/kept.ts";
import { choosable, usual } from "./columns.tsx";

const kept = keptAs("tollgate-request-columns");

/** The chosen headers; stored names that are no longer columns are left out. */
export function useChosen(): readonly string[] {
  const text = useKept(kept);
  return text === undefined ? usual : choosable.filter((one) => text.split(",").includes(one));
}

/** Stores a choice. The default is not stored, so that it follows later defaults. */
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
