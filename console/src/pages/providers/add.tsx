/** Adding a provider: a vendor whose address, models and prices are known, or anything by hand. */
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
      // A key that was pasted must not go by a slip.
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {/* What was typed under one tab is there again after a look at the other. */}
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
