-- Adds one segment to the stream of a task and says it to whoever listens.
-- KEYS: stream, meta. ARGV: fence, first, last, status, seconds to live, bytes, channel, header.
-- Without a channel nothing is said: that is how a stream is filled again.
-- Gives where the stream stands afterwards, or -1 when a newer writer has been here.
local known = redis.call('HMGET', KEYS[2], 'fence', 'last')
local fence = tonumber(ARGV[1])
if known[1] and tonumber(known[1]) > fence then
  return -1
end
local stands = 0
if known[2] and redis.call('EXISTS', KEYS[1]) == 1 then
  stands = tonumber(known[2])
end
local first, last = tonumber(ARGV[2]), tonumber(ARGV[3])
if last <= stands then
  return stands
end
-- The segment is stored for good before it comes here, so it may be said even where the stream has a gap before it.
if ARGV[7] ~= '' then
  redis.call('PUBLISH', ARGV[7], ARGV[8] .. ARGV[6])
end
if first > stands + 1 then
  redis.call('HSET', KEYS[2], 'fence', ARGV[1])
  redis.call('EXPIRE', KEYS[2], ARGV[5])
  return stands
end
redis.call('XADD', KEYS[1], ARGV[3] .. '-0', 'first', ARGV[2], 'data', ARGV[6])
redis.call('HSET', KEYS[2], 'fence', ARGV[1], 'last', ARGV[3], 'status', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return last
