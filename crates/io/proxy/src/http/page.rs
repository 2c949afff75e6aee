//! The answers to HTTP requests.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use crate::metrics::exposition;

/// The content of the pages. The HTTP thread calls it for each request.
pub trait Page: Send + Sync {
    /// Appends all metrics to `out`, in Prometheus' text format.
    fn metrics(&self, out: &mut String);

    /// `Ok` if the proxy accepts new clients, else the reason why not.
    fn ready(&self) -> Result<(), String>;
}

const TEXT: &str = "text/plain; charset=utf-8";

/// Answers one request, by its method and path alone.
pub(super) fn answer<B>(request: &Request<B>, page: &dyn Page) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if !matches!(path, "/metrics" | "/healthz" | "/readyz") {
        return text(
            StatusCode::NOT_FOUND,
            "no such page; there are /metrics, /healthz and /readyz\n".to_owned(),
        );
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n".to_owned());
        refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    match path {
        "/metrics" => {
            let mut metrics = String::new();
            page.metrics(&mut metrics);
            let mut response = text(StatusCode::OK, metrics);
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(exposition::CONTENT_TYPE));
            response
        }
        "/readyz" => match page.ready() {
            Ok(()) => text(StatusCode::OK, "ready\n".to_owned()),
            Err(reason) => text(StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {reason}\n")),
        },
        // /healthz: the answer itself shows that the process lives.
        _ => text(StatusCode::OK, "alive\n".to_owned()),
    }
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
