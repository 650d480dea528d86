"""Scripts over the sets of the classic tables. Each set is a key of its own, so all keys are declared."""

from __future__ import annotations

ADD = """
for i, key in ipairs(KEYS) do
  redis.call('SADD', key, ARGV[i + 1])
  redis.call('PEXPIRE', key, ARGV[1])
end
return {}
"""
"""Adds a member to each set. Arguments: milliseconds until a set expires; of each key: a member."""
MEMBERS = """
local counts, found = {}, {}
for i, key in ipairs(KEYS) do
  local members = redis.call('SMEMBERS', key)
  counts[i], found[i] = struct.pack('<I4', #members), table.concat(members)
end
return {table.concat(counts), table.concat(found)}
"""
"""Reads sets. Columns: the number of members of each set in four bytes; all members."""
REMOVE = """
for i, key in ipairs(KEYS) do redis.call('SREM', key, ARGV[i]) end
return {}
"""
"""Removes a member from each set. Arguments, of each key: a member."""
