/** Shows a key's value for a minute, or rotates it. */
import { Button, Group, Modal, Radio, Stack, Text } from "@mantine/core";
import { useCallback, useState, type FormEvent } from "react";
import { client } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { gatewayMs } from "../../base/clock.ts";
import { readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { FormError } from "../../ui/form-error.tsx";
import { Secret } from "../../ui/secret.tsx";
import type { Key } from "./queries.ts";
import { useMay } from "./rights.ts";

const graces = [
  { value: "0", label: "at once" },
  { value: "3600", label: "in an hour" },
  { value: "86400", label: "in a day" },
  { value: "604800", label: "in a week" },
] as const;

interface Shown {
  readonly value: string;
  /** How long the old value still works. */
  readonly oldUntil?: Date;
}

interface RotateProps {
  readonly apiKey: Key;
  readonly close: () => void;
  readonly show: (shown: Shown) => void;
}

function Rotate({ apiKey, close, show }: RotateProps) {
  const [grace, setGrace] = useState("0");
  const change = useChange({
    send: async () => {
      const params = { path: { id: apiKey.id } };
      const body = { grace_seconds: Number(grace) };
      return (await client.POST("/admin/v1/keys/{id}/rotate", { params, body })).data!;
    },
    invalidates: invalidatedPaths.key,
    done: ({ key }) => {
      const oldUntil = new Date(gatewayMs() + Number(grace) * 1000);
      show({ value: key, ...(grace !== "0" && { oldUntil }) });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run({});
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text>The key gets a new value. Its caps, its spend and its log stay.</Text>
        <Radio.Group label="The old value stops working" value={grace} onChange={setGrace}>
          <Stack gap="xs" mt="xs">
            {graces.map(({ value, label }) => (
              <Radio key={value} value={value} label={label} />
            ))}
          </Stack>
        </Radio.Group>
        <FormError error={change.error} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button type="submit" loading={change.isPending}>
            Rotate key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function RevealButton({ apiKey, show }: { apiKey: Key; show: (shown: Shown) => void }) {
  const change = useChange({
    send: async () => {
      const params = { path: { id: apiKey.id } };
      return (await client.POST("/admin/v1/keys/{id}/reveal", { params, body: {} })).data!;
    },
    invalidates: ["/admin/v1/audit"],
    done: ({ key }) => show({ value: key }),
  });
  return (
    <>
      <Button variant="default" loading={change.isPending} onClick={() => change.run({})}>
        Reveal
      </Button>
      {change.error !== null && <FormError error={change.error} />}
    </>
  );
}

export function Reveal({ apiKey }: { apiKey: Key }) {
  const [shown, setShown] = useState<Shown>();
  const [isRotating, setRotating] = useState(false);
  const hide = useCallback(() => setShown(undefined), []);
  const may = useMay(apiKey);
  const close = () => setRotating(false);
  const isRevoked = apiKey.status === "revoked";
  return (
    <Stack gap="md" mb="lg">
      <Group gap="sm">
        {may("key.reveal") && apiKey.revealable && <RevealButton apiKey={apiKey} show={setShown} />}
        {!apiKey.revealable && (
          <Text className="muted">This key cannot be shown: only its prefix is stored.</Text>
        )}
        {may("key.rotate") && !isRevoked && (
          <Button variant="default" onClick={() => setRotating(true)}>
            Rotate
          </Button>
        )}
      </Group>
      {shown !== undefined && (
        <Secret value={shown.value} label="the key" hide={hide}>
          {shown.oldUntil !== undefined && (
            <Text mt="sm">The value before works until {readTime(shown.oldUntil)}.</Text>
          )}
        </Secret>
      )}
      <Modal
        opened={isRotating}
        onClose={close}
        title="Rotate key"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <Rotate apiKey={apiKey} close={close} show={setShown} />
      </Modal>
    </Stack>
  );
}
