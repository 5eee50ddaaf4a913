/** Lists the keyboard shortcuts, with a switch to disable them. */
import { Checkbox, Kbd, Modal, Table } from "@mantine/core";
import { useState } from "react";
import { useFocusBack } from "./use-focus-back.ts";
import { areKeysOn, pageKeys, switchKeys } from "./shortcuts.ts";

interface HelpProps {
  readonly pages: readonly { readonly label: string; readonly letter: string }[];
  readonly close: () => void;
}

export function Help({ pages, close }: HelpProps) {
  useFocusBack();
  const [isOn, setIsOn] = useState(areKeysOn);
  const [ofPage] = useState(pageKeys);
  const keys: readonly (readonly [string, string])[] = [
    ["Ctrl K", "Search, and jump"],
    ["/", "To the first filter"],
    ["?", "This list"],
    ["F8", "To the last message, such as one with Undo"],
    ...ofPage.map(({ key, what }) => [key === "Escape" ? "Esc" : key, what] as const),
    ...pages.map(({ label, letter }) => [`g ${letter}`, label] as const),
  ];
  return (
    <Modal
      opened
      onClose={close}
      title="Keyboard shortcuts"
      centered
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Table aria-label="Keyboard shortcuts">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={100}>Key</Table.Th>
            <Table.Th>What it does</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map(([key, what]) => (
            <Table.Tr key={key}>
              <Table.Td>
                <Kbd>{key}</Kbd>
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Checkbox
        mt="lg"
        label="Use single-key shortcuts"
        checked={isOn}
        onChange={(event) => {
          setIsOn(event.currentTarget.checked);
          switchKeys(event.currentTarget.checked);
        }}
      />
    </Modal>
  );
}
