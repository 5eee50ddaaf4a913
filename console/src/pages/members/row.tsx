/** A member's table row with its actions, and the removal of a member. */
import { Button, Group, Table, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { isFinal } from "../../api/errors.ts";
import { refetchPaths, invalidatedPaths } from "../../api/invalidation.ts";
import { isolated } from "../../base/isolated.ts";
import { readTime } from "../../base/time.ts";
import { CapBar } from "../../ui/cap-bar.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { offerUndo, notify, notifyError } from "../../ui/undo.tsx";
import { keysOf, removeMember, restoreMember, type Member } from "./queries.ts";

/**
 * Returns a function that confirms a removal, listing the keys that stop. These are read first: only the last click is asked about,
 * once, and nothing after the reader has left the page.
 */
export function useRemoval() {
  const clicked = useRef<Member>(undefined);
  useEffect(() => () => void (clicked.current = undefined), []);
  const queries = useQueryClient();
  const again = () => refetchPaths(queries, invalidatedPaths.member);
  const refuse = async (error: unknown) => {
    notifyError("The member's keys cannot be read.", error);
    if (isFinal(error)) await again();
  };
  return async (member: Member) => {
    clicked.current = member;
    const isInvited = member.status === "invited";
    const keys = isInvited ? { names: [], hasMore: false } : await keysOf(member).catch(refuse);
    if (keys === undefined || clicked.current !== member) return;
    clicked.current = undefined;
    const stops =
      keys.names.length === 0 ? (
        <Text>They have no active keys here.</Text>
      ) : (
        <>
          <Text>These keys stop at once. An admin may enable them again:</Text>
          <ul>
            {keys.names.map((name, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- names repeat, and the list does not change
              <li key={index}>{name}</li>
            ))}
            {keys.hasMore && <li>and others</li>}
          </ul>
        </>
      );
    confirm({
      title: isInvited ? "Withdraw the invitation" : "Remove member",
      text: isInvited ? `The link of ${isolated(member.email)} stops working.` : stops,
      action: isInvited ? "Withdraw" : `Remove ${isolated(member.email)}`,
      danger: true,
      async run() {
        try {
          await removeMember(member);
        } catch (error) {
          // Another admin may have removed the member already.
          if (isFinal(error)) await again();
          throw error;
        }
        await again();
        if (isInvited) notify("The invitation is withdrawn.");
        else {
          offerUndo(`${isolated(member.email)} is removed.`, async () => {
            await restoreMember(member);
            await again();
          });
        }
      },
    });
  };
}

function State({ member: { status, invitation } }: { member: Member }) {
  if (status === "active") return <span className="ok">active</span>;
  const until = invitation && readTime(new Date(invitation.expires_at)).slice(0, -7);
  return <span className="muted">invited until {until}</span>;
}

interface RowProps {
  readonly member: Member;
  /** Percentages at which the workspace is alerted. */
  readonly thresholds: readonly number[];
  readonly edit: (member: Member) => void;
  readonly reset: (member: Member) => void;
  readonly remove: (member: Member) => void;
  /** The row is the reader's own: they change their password on the account page. */
  readonly isReader: boolean;
}

export function Row({ member, thresholds, edit, reset, remove, isReader }: RowProps) {
  const { email, role, status } = member;
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{email}</Table.Td>
      <Table.Td>{role}</Table.Td>
      <Table.Td>
        <State member={member} />
      </Table.Td>
      <Table.Td ta="right">
        <CapBar
          label={`Spend of ${isolated(email)} this month`}
          short
          thresholds={thresholds}
          cap={member.spend_caps.monthly}
          spent={member.spend.monthly}
          remaining={member.remaining.monthly}
          resetsAt={member.resets_at.monthly}
        />
      </Table.Td>
      <Table.Td ta="right">
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <Button
            size="xs"
            variant="default"
            aria-label={`Change ${isolated(email)}`}
            onClick={() => edit(member)}
          >
            Change
          </Button>
          {status === "active" && !isReader && (
            <Button
              size="xs"
              variant="default"
              aria-label={`Reset the password of ${isolated(email)}`}
              onClick={() => reset(member)}
            >
              Reset
            </Button>
          )}
          <Button
            size="xs"
            variant="outline"
            color="var(--bad)"
            aria-label={
              status === "active" ? `Remove ${isolated(email)}` : `Withdraw: ${isolated(email)}`
            }
            onClick={() => remove(member)}
          >
            {status === "active" ? "Remove" : "Withdraw"}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
