/** Invites a member with a role and caps, then shows the link once. */
import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { client, type Schemas } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { capsOf, noCaps } from "../../base/caps.ts";
import { isolated } from "../../base/isolated.ts";
import { reachableUrl } from "../../base/reachable-url.ts";
import { readTime } from "../../base/time.ts";
import { CapsFields } from "../../ui/caps-fields.tsx";
import { useChange } from "../../ui/change.ts";
import { CreateDialog, CreateForm } from "../../ui/create.tsx";
import { OnceLink } from "./once-link.tsx";
import { roleChoices, type Role } from "./roles.ts";

type Added = Schemas["MemberAdded"];

function Link({ added, close }: { added: Added; close: () => void }) {
  const { expires_at: until } = added.invitation;
  const url = reachableUrl(added.invitation.url, location.origin);
  return (
    <OnceLink url={url} close={close}>
      Send this link to {isolated(added.email)}. Whoever has it may join, once, until{" "}
      {readTime(new Date(until))}. It is not shown again; inviting anew replaces it.
    </OnceLink>
  );
}

function Fields({ workspaceId, done }: { workspaceId: string; done: (added: Added) => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [caps, setCaps] = useState(noCaps);
  const change = useChange({
    send: async () => {
      const params = { path: { id: workspaceId } };
      const body = { email, role, spend_caps: capsOf(caps) };
      return (await client.POST("/admin/v1/workspaces/{id}/members", { params, body })).data!;
    },
    invalidates: invalidatedPaths.member,
    done,
  });
  return (
    <CreateForm change={change} shown={["email", "role", "spend_caps"]} action="Invite">
      <TextInput
        label="E-mail"
        type="email"
        required
        data-autofocus
        maxLength={254}
        value={email}
        error={change.at("email")}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <Select
        label="Role"
        allowDeselect={false}
        data={roleChoices}
        value={role}
        error={change.at("role")}
        onChange={(value) => setRole(value === "admin" ? "admin" : "member")}
      />
      <CapsFields fields={caps} set={setCaps} at={change.at} shown={["daily", "monthly"]} />
    </CreateForm>
  );
}

interface InviteProps {
  readonly workspaceId: string;
  readonly opened: boolean;
  readonly close: () => void;
}

export function Invite({ workspaceId, opened, close }: InviteProps) {
  const [added, setAdded] = useState<Added>();
  const leave = () => {
    setAdded(undefined);
    close();
  };
  return added === undefined ? (
    <CreateDialog opened={opened} close={close} title="Invite a member">
      <Fields workspaceId={workspaceId} done={setAdded} />
    </CreateDialog>
  ) : (
    <CreateDialog opened={opened} close={leave} title="The invitation">
      <Link added={added} close={leave} />
    </CreateDialog>
  );
}
