/** The model list that vendor presets use: adopts a newer one after showing its differences, and rolls back. */
import { Button, FileInput, Group, Modal, Stack, Table } from "@mantine/core";
import { useRef, useState } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { confirm } from "../../ui/confirm.tsx";
import { FormError } from "../../ui/form-error.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Differences } from "./differences.tsx";

type Update = Schemas["UpdateCatalogRequest"];
type Version = Schemas["CatalogVersions"]["data"][number];

const send = async (body: Update) => (await client.POST("/admin/v1/catalog", { body })).data!;

/** Chooses a list from a file, shows its changes, and adopts it. */
function Newer() {
  const [list, setList] = useState<{ source: string; list: string }>();
  const [seen, setSeen] = useState<Schemas["CatalogChange"]>();
  const last = useRef<Update>(undefined);
  const look = useChange({
    send: (body: Update) => send({ ...body, dry_run: true }),
    invalidates: [],
    // The response for a previously chosen file may arrive later.
    done: (change, of) => of === last.current && setSeen(change),
  });
  const take = useChange({
    send,
    invalidates: invalidatedPaths.catalog,
    success: "The list is in use.",
    done: () => setSeen(undefined),
  });
  const choose = async (file: File | null) => {
    last.current = undefined;
    setSeen(undefined);
    if (file === null) return;
    const chosen = { source: file.name, list: await file.text() };
    last.current = chosen;
    setList(chosen);
    look.run(chosen);
  };
  return (
    <Stack gap="sm">
      <FileInput
        label="A newer list"
        description="The file api.json of models.dev. Your browser sends it only to your gateway."
        placeholder="Choose a file"
        accept="application/json,.json"
        onChange={(file) => void choose(file)}
      />
      {look.isPending && <output>Reading the list.</output>}
      <FormError error={look.error ?? take.error} />
      {seen !== undefined && <Differences change={seen} />}
      {seen !== undefined && list !== undefined && (
        <Group>
          <Button
            onClick={() =>
              confirm({
                title: "Apply this list",
                text: "Prices of vendors' models change with the next call, on every gateway. You can go back.",
                action: "Apply this list",
                run: () => take.runNow(list),
              })
            }
          >
            Apply list
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function Versions({ versions }: { versions: readonly Version[] }) {
  const back = useChange({
    send: async (version: number) =>
      (await client.POST("/admin/v1/catalog/rollback", { body: { version } })).data!,
    invalidates: invalidatedPaths.catalog,
    success: "The list is in use.",
  });
  const ask = (version: number) =>
    confirm({
      title: `Go back to list ${version}`,
      text: "Prices of vendors' models change with the next call, on every gateway.",
      action: "Use this list",
      run: () => back.runNow(version),
    });
  return (
    <Table aria-label="Lists of models">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>List</Table.Th>
          <Table.Th>From</Table.Th>
          <Table.Th ta="right">Models</Table.Th>
          <Table.Th>In use</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {versions.map(({ version, source, models, in_force: isInForce, created_at: at }) => (
          <Table.Tr key={version}>
            <Table.Td>
              {version}
              {at !== null && `, ${readTime(new Date(at))}`}
            </Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{source}</Table.Td>
            <Table.Td ta="right">{models}</Table.Td>
            <Table.Td>
              {isInForce ? (
                <span className="ok">in use</span>
              ) : (
                <Button size="xs" variant="default" onClick={() => ask(version)}>
                  Use list {version}
                </Button>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

export function Catalogue({ opened, close }: { opened: boolean; close: () => void }) {
  const read = api.useQuery("get", "/admin/v1/catalog", {}, { enabled: opened });
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Catalogue update"
      size="xl"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack gap="lg">
        <Newer />
        {read.error !== null && (
          <RegionError what="lists" error={read.error} retry={read.refetch} />
        )}
        {read.data !== undefined && <Versions versions={read.data.data} />}
      </Stack>
    </Modal>
  );
}
