/** Adds a provider: of a known vendor, or by hand. */
import { Modal, Tabs } from "@mantine/core";
import { AddByHand } from "./add-by-hand.tsx";
import { AddVendor } from "./add-vendor.tsx";

interface AddProps {
  readonly opened: boolean;
  readonly close: () => void;
}

export function AddProvider({ opened, close }: AddProps) {
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Add provider"
      size="lg"
      // A stray click must not discard a pasted key.
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {/* Each tab keeps its input while the other is shown. */}
      <Tabs defaultValue="vendor" keepMounted>
        <Tabs.List mb="md">
          <Tabs.Tab value="vendor">A known vendor</Tabs.Tab>
          <Tabs.Tab value="hand">By hand</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="vendor">
          <AddVendor />
        </Tabs.Panel>
        <Tabs.Panel value="hand">
          <AddByHand />
        </Tabs.Panel>
      </Tabs>
    </Modal>
  );
}
