//! Identifies a repeated submission.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubmissionKey<'a> {
    pub(crate) client_id: Option<&'a str>,
    pub(crate) fingerprint: Option<&'a str>,
}
