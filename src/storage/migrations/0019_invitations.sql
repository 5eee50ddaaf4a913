-- Joining by invitation. contract.md "Sessions and tokens".

-- An e-mail address is what somebody was called when they were added, and proves nothing: each invitation has a user of
-- its own, so that a password somebody else set opens nothing but what that invitation offers. Only an address that the
-- identity provider has verified belongs to one user.
alter table users drop constraint users_email_key;
create index users_by_email on users (email);
create unique index users_by_verified_email on users (email) where email_verified;

-- A member who is invited has no right yet, and their row holds the open invitation: there is one at most. Of its token only
-- the SHA-256 is kept. invited_as: the user id the invitation was answered with, where somebody joined with another.
alter table members
  add column status text not null default 'active' check (status in ('invited', 'active')),
  add column invitation_id text,
  add column invitation_hash bytea,
  add column invitation_expires_at timestamptz,
  add column invited_as text,
  add constraint members_invitation check ((status = 'invited') = (invitation_hash is not null)
    and (invitation_hash is null) = (invitation_id is null) and (invitation_hash is null) = (invitation_expires_at is null));
create unique index members_by_invitation on members (invitation_hash) where invitation_hash is not null;
create index members_by_invited_as on members (workspace_id, invited_as) where invited_as is not null;

-- A password that somebody else set: it opens one session, which may only change it. null: the user's own.
alter table auth_accounts add column one_time text check (one_time in ('unused', 'used'));
alter table auth_sessions add column password_change_required boolean not null default false;
