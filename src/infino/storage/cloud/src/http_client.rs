//! HTTP as the crate `object_store` does it, with two things that it does not do: conditions on
//! requests for which it has none, and a look at the status codes.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use http::header::{HeaderName, HeaderValue, AUTHORIZATION, IF_NONE_MATCH};
use http::Method;
use object_store::azure::{AzureAuthorizer, AzureCredential};
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::CredentialProvider;

/// What the newest request of a task came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// 0 without an answer.
    pub status: u16,
    /// Whether the request was for credentials, and not to the store itself.
    pub is_for_credentials: bool,
}

tokio::task_local! {
    pub static SEEN: Cell<Seen>;
}

/// In the extensions of a read on Google Cloud: the generation that need not be sent again.
#[derive(Clone)]
pub struct KnownGeneration(pub String);

/// Signs anew what a condition was added to, where conditions are part of what is signed.
#[derive(Debug)]
pub struct AzureSigner {
    pub account: String,
    pub credentials: Arc<dyn CredentialProvider<Credential = AzureCredential>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    S3,
    Azure,
    Google,
}

/// The connector of one store.
#[derive(Clone, Debug)]
pub struct Connector {
    kind: Kind,
    /// The last client that a store makes is the one that it uses itself; those before get
    /// credentials.
    clients: Arc<AtomicUsize>,
    signer: Arc<OnceLock<AzureSigner>>,
}

impl Connector {
    pub fn new(kind: Kind) -> Connector {
        Connector {
            kind,
            clients: Arc::default(),
            signer: Arc::default(),
        }
    }

    pub fn set_signer(&self, signer: AzureSigner) {
        let _ = self.signer.set(signer);
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let inner = ReqwestConnector::default().connect(options)?;
        let index = self.clients.fetch_add(1, SeqCst) + 1;
        Ok(HttpClient::new(Client {
            inner,
            index,
            connector: self.clone(),
        }))
    }
}

#[derive(Debug)]
struct Client {
    inner: HttpClient,
    index: usize,
    connector: Connector,
}

const ONLY_IF_GENERATION: HeaderName = HeaderName::from_static("x-goog-if-generation-match");
const UNLESS_GENERATION: HeaderName = HeaderName::from_static("x-goog-if-generation-not-match");
const COPY_SOURCE: HeaderName = HeaderName::from_static("x-goog-copy-source");

fn has_query(request: &HttpRequest, name: &str, value: Option<&str>) -> bool {
    request.uri().query().unwrap_or("").split('&').any(|pair| {
        let (key, found) = pair.split_once('=').unwrap_or((pair, ""));
        key == name && value.is_none_or(|wanted| wanted == found)
    })
}

impl Client {
    async fn add_condition(&self, request: &mut HttpRequest) {
        match self.connector.kind {
            // The end of an upload. The signature covers no header of this name.
            Kind::S3 => {
                if request.method() == Method::POST && has_query(request, "uploadId", None) {
                    request
                        .headers_mut()
                        .insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
                }
            }
            Kind::Azure => {
                if request.method() == Method::PUT && has_query(request, "comp", Some("blocklist"))
                {
                    request
                        .headers_mut()
                        .insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
                    self.sign_anew(request).await;
                }
            }
            Kind::Google => {
                if request.headers().contains_key(COPY_SOURCE) {
                    let absent = HeaderValue::from_static("0");
                    request.headers_mut().insert(ONLY_IF_GENERATION, absent);
                }
                let known = request.extensions().get::<KnownGeneration>().cloned();
                if let Some(Ok(known)) = known.map(|known| HeaderValue::from_str(&known.0)) {
                    request.headers_mut().insert(UNLESS_GENERATION, known);
                }
            }
        }
    }

    async fn sign_anew(&self, request: &mut HttpRequest) {
        let Some(signer) = self.connector.signer.get() else {
            return;
        };
        if !request.headers().contains_key(AUTHORIZATION) {
            return;
        }
        let Ok(credential) = signer.credentials.get_credential().await else {
            return;
        };
        if matches!(*credential, AzureCredential::AccessKey(_)) {
            request.headers_mut().remove(AUTHORIZATION);
            AzureAuthorizer::new(&credential, &signer.account).authorize(request);
        }
    }
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_for_credentials = self.index != self.connector.clients.load(SeqCst);
        if !is_for_credentials {
            self.add_condition(&mut request).await;
        }
        let _ = SEEN.try_with(|seen| {
            seen.set(Seen {
                status: 0,
                is_for_credentials,
            })
        });
        let answer = self.inner.execute(request).await;
        if let Ok(answer) = &answer {
            let status = answer.status().as_u16();
            let _ = SEEN.try_with(|seen| {
                seen.set(Seen {
                    status,
                    is_for_credentials,
                })
            });
        }
        answer
    }
}
