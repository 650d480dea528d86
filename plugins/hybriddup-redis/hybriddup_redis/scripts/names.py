"""Scripts over names, which are ids and texts: fields of hashes, with the position of the holder as the value.

Holders before the oldest position that is still needed have expired. About every 64th new field of a hash removes them.
"""

from __future__ import annotations

HOLDERS = """
local begin, oldest, call, sub = ARGV[1], tonumber(ARGV[2]), redis.call, string.sub
local function hash_and_field(names, at)
  local kind, high, low = string.byte(names, at, at + 2)
  return string.char(kind) .. (high * 256 + low) % 16384, sub(names, at + 2, at + 16)
end
local function holder_in(held)
  if not held then return false end
  if #held ~= 8 then error('HYBRIDDUP-DAMAGED') end
  local position = struct.unpack('<I8', held)
  return position >= oldest and position
end
"""
HOLD = (
    HOLDERS
    + """
local found, claims = {}, ARGV[4]
local function drop_expired(key)
  local all = call('HGETALL', key)
  for i = 1, #all, 2 do
    if not holder_in(all[i + 1]) then call('HDEL', key, all[i]) end
  end
end
for i = 1, #claims / 33 do
  local at = 33 * i - 32
  local hash, field = hash_and_field(claims, at)
  local key, position = KEYS[i] or begin .. hash, sub(claims, at + 17, at + 24)
  local instead = struct.unpack('<i8', claims, at + 25)
  local held = call('HGET', key, field)
  local holder = holder_in(held)
  if not holder or holder == instead then
    call('HSET', key, field, position)
    if not held and string.byte(position) % 64 == 0 then drop_expired(key) end
    call('PEXPIRE', key, ARGV[3])
    holder = struct.unpack('<I8', position)
  end
  found[i] = holder
end
return {found}
"""
)
"""Claims names; returns the positions of their holders.

Arguments: prefix of the keys of hashes, the oldest position that is still needed, milliseconds until a hash expires; of
the names, joined: the kind of name, 16 bytes of a digest, the claiming position in eight bytes, and the position of the
holder that it may replace, -1 = none.
"""
HELD = (
    HOLDERS
    + """
local found, names = {}, ARGV[3]
for i = 1, #names / 17 do
  local hash, field = hash_and_field(names, 17 * i - 16)
  found[i] = holder_in(call('HGET', KEYS[i] or begin .. hash, field))
end
return {found}
"""
)
"""Returns the position of the holder of each name; nil if it has none. Arguments: prefix of the keys of hashes, the
oldest position that is still needed; of the names, joined: the kind of name, 16 bytes of a digest."""
