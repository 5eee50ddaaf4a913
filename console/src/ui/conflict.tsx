/** The conflict dialog (412): shows another user's changes beside the reader's own, and lets the reader choose. */
import { Button, Group, Stack, Table, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { differencesOf, changedValueAt } from "../base/previous-values.ts";
import { ScrollBox } from "./scroll-box.tsx";
import { useFocusBack } from "./use-focus-back.ts";

export interface Conflict {
  /** The object on which the change was based, and its current state. */
  readonly before: object;
  readonly theirs: object;
  readonly mine: object;
  readonly save: () => void;
  readonly take: () => void;
}

function Body({ conflict, close }: { conflict: Conflict; close: () => void }) {
  useFocusBack();
  const rows = differencesOf(conflict.before, conflict.theirs);
  const choose = (chosen: () => void) => () => {
    close();
    chosen();
  };
  return (
    <Stack gap="md">
      <Text>Another person changed this after you opened it. Your changes are not saved yet.</Text>
      <ScrollBox label="Changed meanwhile">
        <Table aria-label="Changed meanwhile">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Was</Table.Th>
              <Table.Th>Is now</Table.Th>
              <Table.Th>Yours</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ field, before, after }) => (
              <Table.Tr key={field}>
                <Table.Td>{field}</Table.Td>
                <Table.Td>{before}</Table.Td>
                <Table.Td>{after}</Table.Td>
                <Table.Td>{changedValueAt(conflict.mine, field) ?? "-"}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollBox>
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={choose(conflict.take)} data-autofocus>
          Take theirs
        </Button>
        <Button onClick={choose(conflict.save)}>Save mine</Button>
      </Group>
    </Stack>
  );
}

export function openConflict(conflict: Conflict): void {
  const id = modals.open({
    title: "Changed by another person",
    children: <Body conflict={conflict} close={() => modals.close(id)} />,
  });
}
