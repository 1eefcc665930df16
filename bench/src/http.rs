//! A minimal HTTP/1.1 client: one connection, one request at a time, no allocation per event. The load generator shares the
//! machine with the measured server, so it must cost very little.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Larger than any response head of the measured servers.
const HEAD_BYTES: usize = 16 * 1024;
/// Maximum size of a response that is read into memory, such as a session's history.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

pub(crate) struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    buffer: BytesMut,
    read_size: usize,
    body: Body,
    after: After,
}

/// What happens to the connection after the current response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Keep,
    Close,
}

/// The read state of the current response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// Completely read.
    Ended,
    Length(usize),
    ChunkHead,
    Chunk(usize),
    ChunkEnd,
    Trailer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    End,
}

impl Connection {
    /// `read_size` is the size of one read: large for a stream, small for thousands of idle ones.
    pub(crate) async fn open(address: SocketAddr, read_size: usize) -> Result<Self> {
        let stream =
            TcpStream::connect(address).await.context("could not connect to the server")?;
        stream.set_nodelay(true)?;
        let buffer = BytesMut::new();
        Ok(Self { stream, address, buffer, read_size, body: Body::Ended, after: After::Keep })
    }

    /// Sends a request and reads the head of its response.
    pub(crate) async fn request(&mut self, method: &str, path: &str, body: &str) -> Result<u16> {
        ensure!(self.body == Body::Ended, "the previous response has not been read completely");
        if self.after == After::Close {
            *self = Self::open(self.address, self.read_size).await?;
        }
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        loop {
            if let Some(end) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") {
                let head = self.buffer.split_to(end + 4);
                let head = parse_head(&head)?;
                (self.body, self.after) = (head.body, head.after);
                return Ok(head.status);
            }
            ensure!(self.buffer.len() < HEAD_BYTES, "the response has an endless head");
            self.fill().await?;
        }
    }

    /// Passes the received part of the body to `take`, waiting only if there is nothing.
    pub(crate) async fn read(&mut self, mut take: impl FnMut(&[u8])) -> Result<Progress> {
        let mut took = Took::Nothing;
        loop {
            match self.decode(&mut take, &mut took)? {
                Step::Ended => return Ok(Progress::End),
                Step::NeedsBytes if matches!(took, Took::Something) => return Ok(Progress::More),
                Step::NeedsBytes => self.fill().await?,
            }
        }
    }

    /// A request with a small response.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<(u16, Vec<u8>)> {
        let status = self.request(method, path, body).await?;
        let mut answer = Vec::new();
        while self.read(|piece| answer.extend_from_slice(piece)).await? == Progress::More {
            ensure!(answer.len() < ANSWER_BYTES, "the answer to {method} {path} is too large");
        }
        Ok((status, answer))
    }

    async fn fill(&mut self) -> Result<()> {
        self.buffer.reserve(self.read_size);
        let read = self.stream.read_buf(&mut self.buffer).await?;
        ensure!(read > 0, "the server closed the connection in mid-response");
        Ok(())
    }

    fn decode(&mut self, take: &mut impl FnMut(&[u8]), took: &mut Took) -> Result<Step> {
        loop {
            self.body = match self.body {
                Body::Ended => return Ok(Step::Ended),
                Body::Length(0) => Body::Ended,
                Body::Chunk(0) => Body::ChunkEnd,
                Body::Length(left) | Body::Chunk(left) => {
                    let size = left.min(self.buffer.len());
                    if size == 0 {
                        return Ok(Step::NeedsBytes);
                    }
                    take(&self.buffer[..size]);
                    *took = Took::Something;
                    self.buffer.advance(size);
                    match self.body {
                        Body::Chunk(_) => Body::Chunk(left - size),
                        _ => Body::Length(left - size),
                    }
                }
                Body::ChunkEnd => {
                    if self.buffer.len() < 2 {
                        return Ok(Step::NeedsBytes);
                    }
                    self.buffer.advance(2);
                    Body::ChunkHead
                }
                Body::ChunkHead | Body::Trailer => {
                    let Some(end) = memchr::memchr(b'\n', &self.buffer) else {
                        return Ok(Step::NeedsBytes);
                    };
                    let line = self.buffer.split_to(end + 1);
                    match self.body {
                        Body::Trailer => Body::Ended,
                        _ => match chunk_size(&line)? {
                            0 => Body::Trailer,
                            size => Body::Chunk(size),
                        },
                    }
                }
            };
        }
    }
}

enum Took {
    Nothing,
    Something,
}

enum Step {
    Ended,
    NeedsBytes,
}

fn chunk_size(line: &[u8]) -> Result<usize> {
    let text = std::str::from_utf8(line)?.trim_end();
    usize::from_str_radix(text, 16).with_context(|| format!("{text:?} is not a chunk size"))
}

struct Head {
    status: u16,
    body: Body,
    after: After,
}

fn parse_head(head: &[u8]) -> Result<Head> {
    let text = std::str::from_utf8(head).context("the response head is not text")?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let status: u16 = status.parse().context("the response has no status")?;
    let mut body = (status == 204).then_some(Body::Ended);
    let mut after = After::Keep;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("content-length", length) => body = Some(Body::Length(length.parse()?)),
            ("transfer-encoding", "chunked") => body = Some(Body::ChunkHead),
            ("connection", "close") => after = After::Close,
            _ => {}
        }
    }
    let body = body.context("the response does not say where its body ends")?;
    Ok(Head { status, body, after })
}
