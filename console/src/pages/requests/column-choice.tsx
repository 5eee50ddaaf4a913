/** Chooses the columns of the log; the browser keeps the choice. */
import { Button, Checkbox, Popover, Stack } from "@mantine/core";
import { storedValue, useStoredValue } from "../../ui/stored-value.ts";
import { selectableColumns, defaultColumns } from "./columns.tsx";

const kept = storedValue("tollgate-request-columns");

/** The chosen headers; stored names that are no longer columns are left out. */
export function useChosenColumns(): readonly string[] {
  const text = useStoredValue(kept);
  return text === undefined
    ? defaultColumns
    : selectableColumns.filter((one) => text.split(",").includes(one));
}

/** Stores a choice. The default is not stored, so that it follows later defaults. */
function storeChoice(chosen: readonly string[]): void {
  const ordered = selectableColumns.filter((one) => chosen.includes(one)).join(",");
  kept.write(ordered === defaultColumns.join(",") ? undefined : ordered);
}

export function ColumnChoice() {
  const chosen = useChosenColumns();
  return (
    <Popover trapFocus position="bottom-end" withinPortal>
      <Popover.Target>
        <Button variant="default" visibleFrom="sm">
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        <Checkbox.Group aria-label="Columns" value={[...chosen]} onChange={storeChoice}>
          <Stack gap="xs">
            {selectableColumns.map((header) => (
              <Checkbox key={header} value={header} label={header} />
            ))}
          </Stack>
        </Checkbox.Group>
        <Button
          mt="md"
          size="xs"
          variant="default"
          disabled={chosen === defaultColumns}
          onClick={() => storeChoice(defaultColumns)}
        >
          Reset
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}
