-- Appends one segment to the stream of a task and publishes it to the subscribers.
-- KEYS: stream, meta. ARGV: fence, first, last, status, seconds to live, bytes, channel, header.
-- Without a channel nothing is published: that is how a stream is refilled.
-- Returns the last position of the stream afterwards, or -1 when a newer writer has taken over.
local known = redis.call('HMGET', KEYS[2], 'fence', 'last')
local fence = tonumber(ARGV[1])
if known[1] and tonumber(known[1]) > fence then
  return -1
end
local position = 0
if known[2] and redis.call('EXISTS', KEYS[1]) == 1 then
  position = tonumber(known[2])
end
local first, last = tonumber(ARGV[2]), tonumber(ARGV[3])
if last <= position then
  return position
end
-- The segment is already committed in the store, so it may be published even after a gap in the stream.
if ARGV[7] ~= '' then
  redis.call('PUBLISH', ARGV[7], ARGV[8] .. ARGV[6])
end
if first > position + 1 then
  redis.call('HSET', KEYS[2], 'fence', ARGV[1])
  redis.call('EXPIRE', KEYS[2], ARGV[5])
  return position
end
redis.call('XADD', KEYS[1], ARGV[3] .. '-0', 'first', ARGV[2], 'data', ARGV[6])
redis.call('HSET', KEYS[2], 'fence', ARGV[1], 'last', ARGV[3], 'status', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return last
