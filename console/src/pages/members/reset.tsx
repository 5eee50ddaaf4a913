/** Creates a password reset link for a member after confirmation, and shows it once. */
import { Text } from "@mantine/core";
import { client, type Schemas } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { isolated } from "../../base/isolated.ts";
import { reachableUrl } from "../../base/reachable-url.ts";
import { readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { CreateDialog, CreateForm } from "../../ui/create.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { useState } from "react";
import { OnceLink } from "./once-link.tsx";
import type { Member } from "./queries.ts";

type Made = Schemas["PasswordResetMade"];

function Link({ made, email, close }: { made: Made; email: string; close: () => void }) {
  const url = reachableUrl(made.url, location.origin);
  return (
    <OnceLink url={url} close={close}>
      Send this link to {isolated(email)}. Whoever has it may choose the password, once, until{" "}
      {readTime(new Date(made.expires_at))}. It is not shown again.
    </OnceLink>
  );
}

function Question({ member, done }: { member: Member; done: (made: Made) => void }) {
  const { workspace_id: id, user_id, email } = member;
  const change = useChange({
    send: async () => {
      const params = { path: { id, user_id } };
      const path = "/admin/v1/workspaces/{id}/members/{user_id}/reset_password";
      return (await client.POST(path, { params })).data!;
    },
    invalidates: invalidatedPaths.member,
    done,
  });
  return (
    <CreateForm change={change} shown={[]} action="Create a link">
      <Text>
        {isolated(email)} gets a link to choose a new password. The old password works until then.
        The new one ends their sessions and personal tokens.
      </Text>
    </CreateForm>
  );
}

export function Reset({ member, close }: { member: Member; close: () => void }) {
  useFocusBack();
  const [made, setMade] = useState<Made>();
  return (
    <CreateDialog opened close={close} title={made === undefined ? "Reset password" : "The link"}>
      {made === undefined ? (
        <Question member={member} done={setMade} />
      ) : (
        <Link made={made} email={member.email} close={close} />
      )}
    </CreateDialog>
  );
}
