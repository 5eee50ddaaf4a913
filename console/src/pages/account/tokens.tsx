/** Personal tokens: for management programs, with their owner's rights. */
import { Button, Group, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useCallback, useState, type FormEvent } from "react";
import { client, type Schemas } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { isolated } from "../../base/isolated.ts";
import { readAgo, readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { confirm } from "../../ui/confirm.tsx";
import { FormError } from "../../ui/form-error.tsx";
import { More } from "../../ui/more.tsx";
import { usePages } from "../../ui/pages.ts";
import { RegionError } from "../../ui/region-error.tsx";
import { Secret } from "../../ui/secret.tsx";
import { SmallTable } from "../../ui/small-table.tsx";

type Token = Schemas["AdminToken"];

function NewToken() {
  const [name, setName] = useState("");
  const [value, setValue] = useState<string>();
  const hide = useCallback(() => setValue(undefined), []);
  const change = useChange({
    send: async (body: { name: string }) => (await client.POST("/admin/v1/tokens", { body })).data!,
    invalidates: invalidatedPaths.token,
    done: ({ token }) => {
      setValue(token);
      setName("");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run({ name });
  };
  return (
    <>
      <form onSubmit={submit}>
        <Group align="end" gap="sm">
          <TextInput
            label="Name"
            required
            value={name}
            error={change.at("name")}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={change.isPending}>
            Create a token
          </Button>
        </Group>
        {change.error !== null && <FormError error={change.beside("name")} />}
      </form>
      {value !== undefined && (
        <Secret value={value} label="the token" hide={hide} isAudited={false}>
          <Text mt="sm">It is not shown again.</Text>
        </Secret>
      )}
    </>
  );
}

function Row({ token }: { token: Token }) {
  const { id, name, last_used_at: used, revoked_at: revoked } = token;
  const change = useChange({
    send: () => client.DELETE("/admin/v1/tokens/{id}", { params: { path: { id } } }),
    invalidates: invalidatedPaths.token,
    success: `${isolated(name)} is revoked.`,
  });
  const ask = () =>
    confirm({
      title: "Revoke token",
      text: `Programs that use ${isolated(name)} are refused at once. You cannot undo this.`,
      action: "Revoke token",
      danger: true,
      run: () => change.runNow({}),
    });
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
      <Table.Td>{readTime(new Date(token.created_at)).slice(0, -7)}</Table.Td>
      <Table.Td>{used === null ? "never" : readAgo(new Date(used))}</Table.Td>
      <Table.Td>
        {revoked === null ? (
          <Button size="xs" variant="default" aria-label={`Revoke ${isolated(name)}`} onClick={ask}>
            Revoke
          </Button>
        ) : (
          <span className="muted">revoked</span>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

export function Tokens() {
  const query = usePages({
    key: ["get", "/admin/v1/tokens", "pages"],
    async read(cursor, signal) {
      const params = { query: { limit: "100", cursor } };
      return (await client.GET("/admin/v1/tokens", { params, signal })).data!;
    },
  });
  const { data, error, refetch } = query;
  const tokens = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Stack gap="sm" w="100%" maw={720}>
      <Title order={2} size="h4">
        Personal tokens
      </Title>
      <Text className="muted">
        For programs that call /admin/v1 with your rights. A new password ends them.
      </Text>
      <NewToken />
      {error !== null && <RegionError what="tokens" error={error} retry={refetch} />}
      {tokens.length > 0 && (
        <SmallTable label="Personal tokens" headers={["Name", "Created", "Last used", "State"]}>
          {tokens.map((token) => (
            <Row key={token.id} token={token} />
          ))}
        </SmallTable>
      )}
      <More next={query} />
    </Stack>
  );
}
