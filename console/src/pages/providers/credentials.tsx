/** A provider's credentials by name: shows which rest and why, adds and removes them. Their values are never shown. */
import { Button, Group, PasswordInput, Table, TextInput } from "@mantine/core";
import { useState } from "react";
import { readMinute } from "../../base/time.ts";
import { confirm } from "../../ui/confirm.tsx";
import { FormError } from "../../ui/form-error.tsx";
import { fieldsOf } from "../../ui/form.ts";
import { SmallTable } from "../../ui/small-table.tsx";
import { Part } from "../../ui/part.tsx";
import { useNow } from "../../ui/use-now.ts";
import { useAddCredential, useRemoveCredential } from "./mutations.ts";
import { untilOf, type Provider } from "./state.ts";

type Credential = NonNullable<Provider["credentials"]>[number];

function Rest({ cooldown_until: until, reason }: Credential) {
  const now = useNow();
  if (until === null) return <span className="ok">in use</span>;
  return (
    <span className="warn">
      {reason ?? "resting"}; left alone until {readMinute(new Date(until))} (
      {untilOf(until, now.getTime())})
    </span>
  );
}

function AddKey({ provider }: { provider: Provider }) {
  const [count, setCount] = useState(0);
  const add = useAddCredential(provider, () => setCount(count + 1));
  return (
    <form
      // Clears the form after success.
      key={count}
      onSubmit={(event) => {
        const field = fieldsOf(event);
        const weight = field("weight");
        add.run({
          id: field("key_name"),
          api_key: field("api_key"),
          ...(weight !== "" && { weight: Number(weight) }),
        });
      }}
    >
      <Group align="end" gap="sm" mt="md">
        <TextInput
          name="key_name"
          label="Name of the key"
          required
          maxLength={64}
          autoComplete="off"
        />
        <PasswordInput name="api_key" label="Key" required w={240} autoComplete="off" />
        <TextInput
          name="weight"
          label="Share of the load"
          placeholder="1"
          inputMode="decimal"
          pattern="[0-9]{1,6}(\.[0-9]{1,3})?"
          w={140}
          autoComplete="off"
        />
        <Button type="submit" variant="default" loading={add.isPending}>
          Add key
        </Button>
      </Group>
      <FormError error={add.error} />
    </form>
  );
}

export function Credentials({ provider }: { provider: Provider }) {
  const { credentials = [], source } = provider;
  const remove = useRemoveCredential(provider);
  const isOurs = source === "api";
  const ask = (id: string) =>
    confirm({
      title: `Remove the key ${id}`,
      text: "Running calls finish with it; new calls do not use it. The gateway deletes it.",
      action: "Remove key",
      danger: true,
      run: () => remove(id),
    });
  return (
    <Part title="Keys">
      <SmallTable
        label="Keys"
        headers={["Name", "Share", "State", ...(isOurs ? ["Action"] : [])]}
        numbers={["Share"]}
        widths={{ Name: 180, Share: 90, Action: 120 }}
      >
        {credentials.map((one) => (
          <Table.Tr key={one.id}>
            <Table.Td>{one.id}</Table.Td>
            <Table.Td ta="right">{one.weight}</Table.Td>
            <Table.Td>
              <Rest {...one} />
            </Table.Td>
            {isOurs && (
              <Table.Td>
                <Button
                  size="xs"
                  variant="default"
                  disabled={credentials.length === 1}
                  onClick={() => ask(one.id)}
                >
                  Remove key
                </Button>
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </SmallTable>
      {isOurs && credentials.length === 1 && (
        <p className="muted">The last key cannot be removed: add another one first.</p>
      )}
      {isOurs && <AddKey provider={provider} />}
    </Part>
  );
}
