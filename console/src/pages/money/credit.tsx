/** Adds credit: shows the amount and the new balance before confirmation. Resent requests add it only once. */
import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useIsMutating } from "@tanstack/react-query";
import { useState } from "react";
import { client, type Schemas } from "../../api/client.ts";
import { randomId } from "../../base/ids.ts";
import { isolated } from "../../base/isolated.ts";
import { exactUsd, parseUsd, spokenUsd } from "../../base/money.ts";
import { useChange } from "../../ui/change.ts";
import { fieldsOf } from "../../ui/form.ts";
import { FormError } from "../../ui/form-error.tsx";
import { useBalance } from "./queries.ts";

interface Credit {
  readonly amount: string;
  readonly note: string;
}

const shape = /^-?\d{1,8}(\.\d{1,9})?$/;
const maxNano = parseUsd("10000000");

/** The fault of an amount, as the API would say it; undefined if none. */
function amountFault(amount: string): string | undefined {
  if (!shape.test(amount) || parseUsd(amount) > maxNano)
    return "Enter an amount such as 25.00, at most 10,000,000. Below 0, credit is taken back.";
  return parseUsd(amount) === 0n ? "It must not be 0." : undefined;
}

/** The available money after a credit of `amount` nano-USD, in words. */
function leftAfter(balance: Schemas["Balance"] | undefined, amount: bigint): string {
  if (balance === undefined) return "not known, the balance could not be read";
  const { available } = balance;
  return available === "unlimited" ? available : `${exactUsd(parseUsd(available) + amount)} USD`;
}

function Ask(props: {
  credit: Credit;
  balance: Schemas["Balance"] | undefined;
  name: string;
  busy: boolean;
  error: unknown;
  back: () => void;
  pay: () => void;
}) {
  const { credit, balance, name, busy, error, back, pay } = props;
  const amount = parseUsd(credit.amount);
  const sum = exactUsd(amount < 0n ? -amount : amount);
  const verb = amount < 0n ? "Take back" : "Add";
  return (
    <Stack gap="md">
      <Text>
        {verb} <strong>{sum} USD</strong> ({spokenUsd(amount < 0n ? -amount : amount)})
        {amount < 0n ? " from " : " to "}
        {isolated(name)}.
      </Text>
      <Text>
        Available after it: <strong>{leftAfter(balance, amount)}</strong>
      </Text>
      <Text className="muted">
        You cannot change or remove this entry. To correct it, add a second one.
      </Text>
      <FormError error={error} />
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={back} disabled={busy} data-autofocus>
          Back
        </Button>
        <Button onClick={pay} loading={busy}>
          {verb} {sum} USD
        </Button>
      </Group>
    </Stack>
  );
}

function Fields(props: {
  written: Credit;
  close: () => void;
  /** Receives the input, and whether it is valid. */
  wrote: (credit: Credit, isRight: boolean) => void;
}) {
  const { written, close, wrote } = props;
  const [fault, setFault] = useState<string>();
  return (
    <form
      onSubmit={(event) => {
        const field = fieldsOf(event);
        const credit = { amount: field("amount").trim(), note: field("note") };
        const wrong = amountFault(credit.amount);
        setFault(wrong);
        wrote(credit, wrong === undefined);
      }}
    >
      <Stack gap="md">
        <TextInput
          name="amount"
          label="Amount (USD)"
          inputMode="decimal"
          autoComplete="off"
          defaultValue={written.amount}
          error={fault}
          data-autofocus
        />
        <TextInput
          name="note"
          label="Note (optional)"
          maxLength={500}
          defaultValue={written.note}
        />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit">Continue</Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Mounted while the dialog is open, with one idempotency key: so it is one payment. */
function CreditForm({ id, name, close }: { id: string; name: string; close: () => void }) {
  const [key] = useState(randomId);
  const [written, setWritten] = useState<Credit>({ amount: "", note: "" });
  const [isAsked, setAsked] = useState(false);
  const { data: balance } = useBalance(id);
  const change = useChange({
    send: ({ amount, note }: Credit) =>
      client.POST("/admin/v1/workspaces/{id}/credits", {
        params: { path: { id }, header: { "Idempotency-Key": key } },
        body: { amount, note: note === "" ? null : note },
      }),
    invalidates: ["/admin/v1/workspaces", "/admin/v1/audit"],
    success: "The credit is in the ledger.",
    done: close,
  });
  if (!isAsked) {
    const wrote = (credit: Credit, isRight: boolean) => {
      setWritten(credit);
      setAsked(isRight);
    };
    return <Fields {...{ written, close, wrote }} />;
  }
  return (
    <Ask
      {...{ balance, name }}
      credit={written}
      busy={change.isPending}
      error={change.error}
      back={() => {
        change.reset();
        setAsked(false);
      }}
      pay={() => change.run(written)}
    />
  );
}

export function AddCredit({ id, name }: { id: string; name: string }) {
  const [opened, { open, close }] = useDisclosure();
  // A dialog that is opened anew is another payment: the reader must know the outcome of this one first.
  const isPaying = useIsMutating() > 0;
  return (
    <>
      <Button onClick={open}>Add credit</Button>
      <Modal
        opened={opened}
        onClose={() => {
          if (!isPaying) close();
        }}
        closeOnClickOutside={false}
        title={`Add credit to ${isolated(name)}`}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <CreditForm id={id} name={name} close={close} />
      </Modal>
    </>
  );
}
