#!/usr/bin/env bash
# github-reviews.sh OWNER/NAME NUMBER: the reviews of a pull request, as `loralint gate --reviews` reads them.
# Needs gh (with GH_TOKEN) and jq. Reviews of bots and of deleted accounts are left out: they are no people.
set -euo pipefail
repository="$1" number="$2"

author=$(gh api "repos/$repository/pulls/$number" | jq -r .user.login)
reviews=$(gh api --paginate "repos/$repository/pulls/$number/reviews" |
  jq -c '.[] | select(.user != null and .user.type == "User") | {user: .user.login, state, commit: .commit_id}')
wrote=$(gh api --paginate "repos/$repository/pulls/$number/commits" |
  jq -c '.[].author | select(. != null and .type == "User") | .login' | jq -cs unique)

permissions='{}'
while read -r user; do
  [[ "$user" =~ ^[A-Za-z0-9_-]+$ ]] || continue
  permission=$(gh api "repos/$repository/collaborators/$user/permission" | jq -r .permission || echo none)
  permissions=$(jq --arg user "$user" --arg permission "$permission" '.[$user] = $permission' <<< "$permissions")
done < <(jq -r .user <<< "$reviews" | sort -u)

jq -s --arg author "$author" --argjson wrote "$wrote" --argjson permissions "$permissions" \
  '{author: $author, wrote: $wrote, reviews: map(. + {permission: ($permissions[.user] // "none")})}' <<< "$reviews"
