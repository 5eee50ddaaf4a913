/** A member's role, caps and rate limits. */
import { Modal, Select, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { ifMatch } from "../../api/etag.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { capFieldsOf, capsOf } from "../../base/caps.ts";
import { isolated } from "../../base/isolated.ts";
import { limitFieldsOf, limitsOf } from "../../base/limits.ts";
import { previousValues } from "../../base/previous-values.ts";
import { CapsFields } from "../../ui/caps-fields.tsx";
import { useChange } from "../../ui/change.ts";
import { changedFields, useDraft } from "../../ui/draft.ts";
import { LimitsFields } from "../../ui/limits-fields.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SaveBar } from "../../ui/save-bar.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { changeMember, readMember, type Member } from "./queries.ts";
import { roleChoices } from "./roles.ts";

const fieldsOf = (member: Member) => ({
  role: member.role,
  caps: capFieldsOf(member.spend_caps),
  limits: limitFieldsOf(member.rate_limits),
});

type Fields = ReturnType<typeof fieldsOf>;

/** The API patch of the changed fields. */
function patchOf(before: Fields, after: Fields) {
  const { role, caps, limits } = changedFields(before, after);
  return {
    ...(role !== undefined && { role }),
    ...(caps !== undefined && { spend_caps: capsOf(changedFields(before.caps, caps)) }),
    ...(limits !== undefined && { rate_limits: limitsOf(changedFields(before.limits, limits)) }),
  };
}
type Patch = ReturnType<typeof patchOf>;

function Form({ member, close }: { member: Member; close: () => void }) {
  const draft = useDraft(member, fieldsOf);
  const { base } = draft;
  const change = useChange({
    base,
    read: () => readMember(base),
    send: (body: Patch, headers) => changeMember(base, body, headers.ifMatch),
    invalidates: invalidatedPaths.member,
    settled: draft.settle,
    dropped: draft.discard,
    success: `${isolated(base.email)} is changed.`,
    undo: (after, body, before) =>
      changeMember(after, previousValues(before, body), ifMatch(after)),
    done: close,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run(patchOf(fieldsOf(base), draft.fields));
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Select
          label="Role"
          allowDeselect={false}
          data={roleChoices}
          value={draft.fields.role}
          error={change.at("role")}
          onChange={(value) => draft.set({ role: value === "admin" ? "admin" : "member" })}
        />
        <CapsFields fields={draft.fields.caps} set={(caps) => draft.set({ caps })} at={change.at} />
        <LimitsFields
          fields={draft.fields.limits}
          set={(limits) => draft.set({ limits })}
          at={change.at}
        />
        <SaveBar draft={draft} change={change} shown={["role", "spend_caps", "rate_limits"]} />
      </Stack>
    </form>
  );
}

export function Edit({ member, close }: { member: Member; close: () => void }) {
  useFocusBack();
  // Lists have no entity tags: the member is read separately first.
  const { data, error, refetch } = useQuery({
    queryKey: ["get", "/admin/v1/workspaces/{id}/members/{user_id}", member.user_id],
    queryFn: () => readMember(member),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Modal
      opened
      onClose={close}
      closeOnClickOutside={false}
      title={`Role, caps and limits of ${isolated(member.email)}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {error !== null && <RegionError what="member" error={error} retry={refetch} />}
      {data !== undefined && <Form member={data} close={close} />}
    </Modal>
  );
}
